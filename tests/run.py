#!/usr/bin/env python3
"""Runs the tests and ends with one line: `N passed, N failed` (and `, N skipped`). Uses the standard library
only.

    tests/run.py                       what `make test` runs
    tests/run.py check                 what `make check` runs
    tests/run.py test check            both at the same time
    tests/run.py unit simulation       some parts
    tests/run.py unit -k Delta         only tests whose name contains `Delta`

The parts of test: {test}. The parts of check: {check}. A part that needs a build waits for it, and the others
run meanwhile. A part that passes writes its output to build/test-logs. A part that fails also prints the end
of it. A table shows the time of each part. The exit status is 0 only if something ran and nothing failed."""

import argparse
import signal
import sys
import time

from running import tests
from running.process import LOGS, ROOT, say
from running.schedule import Schedule

PARTS = {
    "test": ["rules", "clients", "unit", "simulation", "system"],
    "check": ["format", "headers", "tidy", "asan-ubsan", "tsan", "bench"],
}
ALL = [part for parts in PARTS.values() for part in parts]


def tasks_of(chosen, words, builds):
    """All tasks. A task comes after those that it waits for."""
    tasks, built = [], {}
    before = []  # one build after another: each uses all processors

    def build(preset, target):
        if not builds:
            return []
        if (preset, target) not in built:
            built[preset, target] = tests.build_task(preset, target, before[-1:])
            before.append(built[preset, target])
            tasks.append(built[preset, target])
        return [built[preset, target]]

    clients = tests.clients(words) if "clients" in chosen else []
    if "rules" in chosen:
        tasks += tests.rules()
    tasks += clients
    if "format" in chosen:
        tasks.append(tests.format_task())
    if "system" in chosen:  # after the clients' tests: both use Maven's and Go's folders
        after = (*build("release", "seen_programs"), *clients)
        tasks.append(tests.Task("system", "system", lambda: tests.system(words), after, 0))
    if "bench" in chosen:  # after the system tests: each of both starts as many brokers as the memory takes
        after = (*build("release", "seen_programs"), *(task for task in tasks if task.part == "system"))
        tasks.append(tests.Task("bench", "bench", lambda: tests.system(words, "bench"), after, 0))
    for part in ("unit", "simulation"):
        if part in chosen:
            tasks.append(
                tests.google_tests(part, "release", words, build("release", "all"), part == "simulation")
            )
    for preset in ("asan-ubsan", "tsan"):
        if preset in chosen:
            after = build(preset, "seen_tests")
            tasks += [
                tests.google_tests(preset, preset, words, after, simulation) for simulation in (True, False)
            ]
    for part, make in (("headers", tests.headers_task), ("tidy", tests.tidy_task)):
        if part in chosen:
            tasks.append(make(build("release", "seen_programs")))
    return tasks


def stop_by_signal(number, _frame):
    raise KeyboardInterrupt(signal.Signals(number).name)


def main():
    description = __doc__.format(**{name: ", ".join(parts) for name, parts in PARTS.items()})
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="part", help="test, check, " + ", ".join(ALL))
    parser.add_argument("-k", dest="words", default="", help="only tests whose name contains this")
    parser.add_argument("--no-build", action="store_true", help="take the binaries as they are")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(ALL) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; there are: test, check, {', '.join(ALL)}")
    asked = arguments.parts or ["test"]
    chosen = {part for name in asked for part in PARTS.get(name, [name])}

    signal.signal(signal.SIGTERM, stop_by_signal)
    is_cold = not (ROOT / "build" / "release" / "build.ninja").exists()
    start, schedule = time.monotonic(), Schedule(tasks_of(chosen, arguments.words, not arguments.no_build))
    try:
        total = schedule.run()
    except KeyboardInterrupt:
        say("stopped by a signal")
        return 130
    for line in schedule.times():
        say(line)
    if is_cold:
        built = [part.cpu for name, part in schedule.parts.items() if name.startswith("build release")]
        (LOGS / "cold-build-cpu-s.txt").write_text(f"{sum(built)}\n", encoding="utf-8")
    say(f"took {time.monotonic() - start:.0f} s; logs in {LOGS.relative_to(ROOT)}")
    say(str(total))
    return 0 if total.passed > 0 and total.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
