"""The parts of `make check` that look at the sources: format, headers, tidy."""

import sys

from running.process import JOBS, PYTHON, ROOT
from running.schedule import Task
from running.tests import LIMIT_S, step

LIMIT_S |= {"format": 300, "headers": 1800, "tidy": 3600}


def check_program(name, after=(), processors=1):
    """tests/check/NAME.py, which tests itself first: a check that can't fail is none."""
    program = [sys.executable, ROOT / "tests" / "check" / f"{name}.py"]

    def check():
        counts = step(f"{name}, self-test", [*program, "--self-test"], LIMIT_S[name], PYTHON)
        counts.add(step(name, program, LIMIT_S[name], PYTHON))
        return counts

    return Task(name, name, check, tuple(after), processors)


def format_task():
    return check_program("format")


def headers_task(after):
    return check_program("headers", after, JOBS)


def tidy_task(after):
    """clang-tidy's checks, and Clang's analysis of which thread holds which mutex (src/base/mutex.h)."""
    return check_program("tidy", after, JOBS)
