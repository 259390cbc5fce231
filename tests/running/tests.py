"""The parts of `make test`: rules, clients, unit, simulation, system; the same tests under sanitizers; and the
benchmarks' smoke run. The parts of `make check` that look at the sources: format, headers, tidy."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

from running import counts
from running.counts import Counts
from running.process import JOBS, LOGS, PYTHON, ROOT, report, run, say
from running.schedule import Task

LIMIT_S = {"build": 3600, "binary": 900, "rules": 60, "clients": 900, "system": 2400, "bench": 2400}
LIMIT_S |= {"format": 300, "headers": 1800, "tidy": 3600}
PYTEST_OUTCOME = re.compile(r"(\[gw\d+\]|tests/\S+::).* (PASSED|FAILED|SKIPPED|ERROR)\b")
BYTES_PER_WORKER = 1_500 << 20  # a broker, the daemons of one test, a client


def step(name, command, limit_s, environment=None):
    """A command that counts as one test."""
    start, log = time.monotonic(), LOGS / f"{name.replace(' ', '-')}.log"
    status = run(command, log, limit_s, environment)
    return report(name, Counts(passed=1) if status == 0 else Counts(failed=1), time.monotonic() - start, log)


def rules():
    """Each tests/*_rule.py, which tests itself first. And the table of rules that worlds must miss."""
    tasks = []
    for rule in sorted((ROOT / "tests").glob("*_rule.py")):
        name = rule.stem.replace("_", " ")
        for name, more in ((f"{name}, self-test", ["--self-test"]), (name, [])):
            command = [sys.executable, rule, *more]
            tasks.append(
                Task(
                    "rules",
                    name,
                    lambda name=name, command=command: step(name, command, LIMIT_S["rules"], PYTHON),
                )
            )
    name, command = "rules out", [sys.executable, ROOT / "tests" / "simulation" / "rules_out.py", "--check"]
    tasks.append(Task("rules", name, lambda: step(name, command, LIMIT_S["rules"], PYTHON)))
    return tasks


def build_task(preset, target, after=()):
    """Configures and builds; a success counts nothing."""
    name = f"build {preset} {target}"

    def build():
        result, start, log = Counts(), time.monotonic(), LOGS / f"{name.replace(' ', '-')}.log"
        for command in (
            ["cmake", "--preset", preset],
            ["cmake", "--build", "--preset", preset, "--parallel", JOBS, "--target", target],
        ):
            if run(command, log, LIMIT_S["build"]) != 0:
                result.failed = 1
                break
        return report(name, result, time.monotonic() - start, log)

    return Task(name, name, build, tuple(after), JOBS)


# --- GoogleTest


def binaries_of(preset, simulation):
    """The test binaries of a build, the longest of the last run first; simulations are a part of their
    own."""
    folder = ROOT / "build" / preset
    names = (folder / "test-binaries.txt").read_text(encoding="utf-8").split()

    def seconds(name):
        try:
            return float(
                json.loads((LOGS / preset / f"{name}.json").read_text(encoding="utf-8"))["time"].rstrip("s")
            )
        except (OSError, ValueError, KeyError):
            return 0.0

    chosen = [name for name in sorted(names) if name.startswith("test_simulation") == simulation]
    return [folder / name for name in sorted(chosen, key=seconds, reverse=True)]


def google_tests(part, preset, words, after, simulation):
    """One task, which becomes a task a binary once the build has named them."""

    def expand():
        tasks = []
        for binary in binaries_of(preset, simulation):
            shards = JOBS if simulation else 1
            tasks += [
                Task(
                    part,
                    binary.name,
                    lambda binary=binary, shard=shard, shards=shards: google_test(
                        preset, binary, words, shard, shards
                    ),
                )
                for shard in range(shards)
            ]
        return tasks

    return Task(part, f"{part}: binaries", expand, tuple(after), 0)


def google_test(preset, binary, words, shard, shards):
    """Runs one GoogleTest binary, or a share of its tests, and counts its cases from the report that it
    writes."""
    name = f"{preset}/{binary.name}" + (f", share {shard + 1} of {shards}" if shards > 1 else "")
    file = binary.name + (f"-{shard + 1}" if shards > 1 else "")
    log, result = LOGS / preset / f"{file}.log", LOGS / preset / f"{file}.json"
    result.parent.mkdir(parents=True, exist_ok=True)
    result.unlink(missing_ok=True)
    command = [binary, f"--gtest_output=json:{result}", "--gtest_color=no", "--gtest_brief=0"]
    if words:
        command.append(f"--gtest_filter=*{words}*")
    if preset == "tsan" and can_fix_addresses():
        command = ["setarch", "-R", *command]
    start = time.monotonic()
    status = run(
        command,
        log,
        LIMIT_S["binary"],
        {
            "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "TSAN_OPTIONS": f"halt_on_error=1:suppressions={ROOT / 'tests' / 'tsan.supp'}",
            **({"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)} if shards > 1 else {}),
        },
    )
    return report(name, counts.of_google_test(result).or_failed(status), time.monotonic() - start, log)


def can_fix_addresses():
    """ThreadSanitizer of GCC 12 needs fixed addresses on kernels that randomise many bits."""
    try:
        return subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


# --- The readers in other languages, by their own languages' tests


def clients(words):
    tests = [
        (name, test)
        for name, test in (("java", client_java), ("go", client_go), ("python", client_python))
        if (ROOT / "clients" / name).is_dir()
    ]
    return [Task("clients", f"clients/{name}", lambda test=test: test(words), (), 0) for name, test in tests]


def client_python(words):
    log, result = LOGS / "clients-python.log", LOGS / "clients-python.xml"
    result.unlink(missing_ok=True)
    command = [
        python_with("numpy, pytest, xxhash, matplotlib, redis, zstandard"),
        "-m",
        "pytest",
        "-v",
        "-p",
        "no:cacheprovider",
        f"--junitxml={result}",
        *(["-k", words] if words else []),
    ]
    start = time.monotonic()
    status = run(command, log, LIMIT_S["clients"], PYTHON, folder=ROOT / "clients" / "python")
    return report("clients/python", counts.of_pytest(result, status, words), time.monotonic() - start, log)


def client_go(words):
    """Each module under clients/go. -count=1: Go's cache of results doesn't know of the golden files."""
    total = Counts()
    for module in sorted(path.parent for path in (ROOT / "clients" / "go").glob("**/go.mod")):
        name = str(module.relative_to(ROOT))
        log, start = LOGS / f"{name.replace('/', '-')}.log", time.monotonic()
        if run(["go", "vet", "./..."], log, LIMIT_S["clients"], folder=module) != 0:
            result = Counts(failed=1)
        else:
            command = ["go", "test", "-count=1", "-v", *(["-run", words] if words else []), "./..."]
            status = run(command, log, LIMIT_S["clients"], folder=module)
            result = counts.of_go(log).or_failed(status)
        total.add(report(name, result, time.monotonic() - start, log))
    return total


def client_java(words):
    folder, log = ROOT / "clients" / "java", LOGS / "clients-java.log"
    reports = "**/target/surefire-reports/TEST-*.xml"
    for old in folder.glob(reports):
        old.unlink()
    command = ["mvn", "-q", "-B", "test"]
    if words:
        command += [f"-Dtest=*{words}*,*#*{words}*", "-Dsurefire.failIfNoSpecifiedTests=false"]
    start, result = time.monotonic(), Counts()
    status = run(command, log, LIMIT_S["clients"], folder=folder)
    for one in folder.glob(reports):
        result.add(counts.of_junit(one))
    return report("clients/java", result.or_failed(status), time.monotonic() - start, log)


# --- The real binaries with real clients, by pytest


def system(words, part="system"):
    """`system`: the promises of the daemon and of its tools. `bench`: small runs of the benchmarks and of what
    makes pages, test_bench_*.py."""
    folder = ROOT / "tests" / "system"
    benches = sorted(folder.glob("test_bench_*.py"))
    files = benches if part == "bench" else [folder, *(f"--ignore={file}" for file in benches)]
    log, result = LOGS / f"{part}.log", LOGS / f"{part}.xml"
    result.unlink(missing_ok=True)
    python = python_with("confluent_kafka, numpy, pytest")
    command = [
        python,
        "-m",
        "pytest",
        "-v",
        "-p",
        "no:cacheprovider",
        "--durations=15",
        f"--junitxml={result}",
        *files,
        *side_by_side(python),
        *(["-k", words] if words else []),
    ]

    def progress(line):
        if PYTEST_OUTCOME.match(line):
            say(f"       {line.rstrip()}")

    start = time.monotonic()
    status = run(command, log, LIMIT_S[part], PYTHON, progress, first=True)
    return report(part, counts.of_pytest(result, status, words), time.monotonic() - start, log)


def side_by_side(python):
    """Two tests a processor, since they wait half of the time, and one for the heavy ones, as far as the memory
    reaches; with a broker each."""
    if subprocess.run([python, "-c", "import xdist"], capture_output=True, check=False).returncode != 0:
        say("       system tests run one after another: python3-pytest-xdist is missing")
        return []
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") + cached_bytes()
    workers = max(1, min(2 * JOBS + 1, memory // BYTES_PER_WORKER))
    return ["-n", workers, "--dist", "loadgroup"]


def cached_bytes():
    """What the kernel gives up when somebody needs memory."""
    lines = pathlib.Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Cached:")), 0)


def python_with(modules):
    """An interpreter that has these: with the distribution's packages, or with those of
    scripts/packages/compare-python.txt."""
    of_compare = ROOT / "build" / "compare-tools" / "bin" / "python"
    for python in (sys.executable, "/usr/bin/python3", *([of_compare] if of_compare.exists() else [])):
        probe = subprocess.run([python, "-c", f"import {modules}"], capture_output=True, check=False)
        if probe.returncode == 0:
            return python
    return sys.executable


# --- Checks of the sources


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
