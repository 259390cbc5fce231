#!/usr/bin/env python3
"""Runs the tests and closes with one line: `N passed, N failed` (and `, N skipped`). Standard library only.

    tests/run.py                       everything
    tests/run.py unit simulation       some parts (see PARTS below)
    tests/run.py unit -k Delta         only tests whose name contains `Delta`

Output of what passes is kept in build/test-logs, of what fails printed. Exit status 0 only if something ran
and nothing failed.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test-logs"
JOBS = len(os.sched_getaffinity(0))
PARTS = ["rules", "unit", "simulation", "asan-ubsan", "tsan", "clients", "system"]
BUILT_BY_NONE = ("rules", "clients")
PRESETS = {part: part if part in ("asan-ubsan", "tsan") else "release" for part in PARTS if part not in BUILT_BY_NONE}
LIMIT_S = {"build": 1800, "binary": 900, "rules": 60, "clients": 900, "system": 2400}
CLIENTS_AT_ONCE = 2
OUTPUT_LINES_MAX = 200
PYTHON = {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
PYTEST_OUTCOME = re.compile(r"tests/\S+::.* (PASSED|FAILED|SKIPPED|ERROR)\b")
GO_OUTCOME = re.compile(r"^--- (PASS|FAIL|SKIP): ", re.MULTILINE)


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def run(command, log, limit_s, environment=None, on_line=None, folder=ROOT):
    """Runs a command with its output in `log`; returns its status, None if it was ended at the time limit."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as output:
        try:
            process = subprocess.Popen(
                [str(c) for c in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}, start_new_session=True)
        except OSError as error:
            output.write(f"{error}\n".encode())
            return 127
    deadline = time.monotonic() + limit_s
    try:
        with open(log, encoding="utf-8", errors="replace") as lines:
            while process.poll() is None and time.monotonic() < deadline:
                try:
                    process.wait(0.2)
                except subprocess.TimeoutExpired:
                    pass
                tell(lines, on_line)
            tell(lines, on_line)
        if process.poll() is not None:
            return process.returncode
        with open(log, "a", encoding="utf-8") as output:
            output.write(f"\nended: took longer than {limit_s} s\n")
        return None
    finally:
        end_group(process)


def tell(lines, on_line):
    """Hands on the whole lines that a growing file has gained."""
    while on_line:
        at = lines.tell()
        line = lines.readline()
        if not line.endswith("\n"):
            lines.seek(at)
            return
        on_line(line)


def end_group(process):
    """Ends whatever the command left running, gently first (pytest then still writes its report)."""
    for number, patience_s in ((signal.SIGINT, 30), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience_s)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


def report(name, counts, seconds, log):
    outcome = "" if counts == Counts() else f": {counts}"
    say(f"{'FAILED' if counts.failed else 'ok':<6} {name}{outcome} in {seconds:.1f} s")
    if counts.failed:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        shown = lines[-OUTPUT_LINES_MAX:]
        say(f"----- {log.relative_to(ROOT)}, last {len(shown)} of {len(lines)} lines")
        say("\n".join(shown))
        say("-----")
    return counts


def say(text):
    print(text, flush=True)


def step(name, command, limit_s):
    """A command that counts as one test."""
    start, log = time.monotonic(), LOGS / f"{name.replace(' ', '-')}.log"
    status = run(command, log, limit_s)
    return report(name, Counts(passed=1) if status == 0 else Counts(failed=1), time.monotonic() - start, log)


def build(preset):
    """Configures and builds; a success counts nothing."""
    counts = Counts()
    start, log = time.monotonic(), LOGS / f"build-{preset}.log"
    compile_all = ["cmake", "--build", "--preset", preset, "--parallel", JOBS]
    for command in (["cmake", "--preset", preset], compile_all):
        if run(command, log, LIMIT_S["build"]) != 0:
            counts.failed = 1
            break
    return report(f"build {preset}", counts, time.monotonic() - start, log)


def google_test(preset, binary, words):
    """Runs one GoogleTest binary and counts its cases from the report it writes."""
    name = f"{preset}/{binary.name}"
    log, result = LOGS / preset / f"{binary.name}.log", LOGS / preset / f"{binary.name}.json"
    result.parent.mkdir(parents=True, exist_ok=True)
    result.unlink(missing_ok=True)
    command = [binary, f"--gtest_output=json:{result}", "--gtest_color=no", "--gtest_brief=0"]
    if words:
        command.append(f"--gtest_filter=*{words}*")
    if preset == "tsan" and can_fix_addresses():
        command = ["setarch", "-R", *command]
    start = time.monotonic()
    status = run(command, log, LIMIT_S["binary"], {
        "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": f"halt_on_error=1:suppressions={ROOT / 'tests' / 'tsan.supp'}",
    })
    counts = count_google_test(result)
    if status != 0 and counts.failed == 0:
        counts.failed = 1  # crashed, took too long, or a sanitizer spoke after the last case
    return report(name, counts, time.monotonic() - start, log)


def count_google_test(result):
    counts = Counts()
    try:
        suites = json.loads(result.read_text(encoding="utf-8"))["testsuites"]
    except (OSError, ValueError):
        return counts
    for case in (case for suite in suites for case in suite["testsuite"]):
        if case["status"] == "NOTRUN":
            continue
        if case["result"] == "SKIPPED":
            counts.skipped += 1
        elif case.get("failures"):
            counts.failed += 1
        else:
            counts.passed += 1
    return counts


def can_fix_addresses():
    """ThreadSanitizer of GCC 12 needs fixed addresses on kernels that randomise many bits."""
    try:
        return subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def google_tests(preset, binaries, words):
    counts = Counts()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for outcome in pool.map(lambda binary: google_test(preset, binary, words), binaries):
            counts.add(outcome)
    return counts


def binaries_of(preset, simulation):
    """The test binaries of a build; the simulations (`test_simulation*`) are a part of their own."""
    folder = ROOT / "build" / preset
    names = (folder / "test-binaries.txt").read_text(encoding="utf-8").split()
    return [folder / name for name in sorted(names) if name.startswith("test_simulation") == simulation]


def rules(_):
    counts = Counts()
    for rule in ("include_rule", "type_names_rule"):
        command, name = [sys.executable, f"tests/{rule}.py"], rule.replace("_", " ")
        counts.add(step(f"{name}, self-test", [*command, "--self-test"], LIMIT_S["rules"]))
        counts.add(step(name, command, LIMIT_S["rules"]))
    return counts


def sanitized(preset, words):
    counts = google_tests(preset, binaries_of(preset, False), words)
    counts.add(google_tests(preset, binaries_of(preset, True), words))
    return counts


def clients(words):
    """The readers in other languages, by their own languages' tests; one whose folder isn't there is left out."""
    tests = [test for name, test in (("java", client_java), ("go", client_go), ("python", client_python))
             if (ROOT / "clients" / name).is_dir()]
    counts = Counts()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS_AT_ONCE) as pool:
        for outcome in pool.map(lambda test: test(words), tests):
            counts.add(outcome)
    return counts


def client_python(words):
    log, result = LOGS / "clients-python.log", LOGS / "clients-python.xml"
    result.unlink(missing_ok=True)
    command = [python_with("numpy, pytest, xxhash"), "-m", "pytest", "-v", "-p", "no:cacheprovider",
               f"--junitxml={result}"]
    if words:
        command += ["-k", words]
    start = time.monotonic()
    status = run(command, log, LIMIT_S["clients"], PYTHON, folder=ROOT / "clients" / "python")
    counts = pytest_counts(result, status, words)
    return report("clients/python", counts, time.monotonic() - start, log)


def client_go(words):
    """Each module under clients/go. -count=1: Go's cache of results doesn't know of the golden files."""
    counts = Counts()
    for module in sorted(path.parent for path in (ROOT / "clients" / "go").glob("**/go.mod")):
        name = str(module.relative_to(ROOT))
        log, start = LOGS / f"{name.replace('/', '-')}.log", time.monotonic()
        counts_here = Counts()
        if run(["go", "vet", "./..."], log, LIMIT_S["clients"], folder=module) != 0:
            counts_here.failed = 1
        else:
            command = ["go", "test", "-count=1", "-v", *(["-run", words] if words else []), "./..."]
            status = run(command, log, LIMIT_S["clients"], folder=module)
            outcomes = GO_OUTCOME.findall(log.read_text(encoding="utf-8", errors="replace"))
            counts_here = Counts(outcomes.count("PASS"), outcomes.count("FAIL"), outcomes.count("SKIP"))
            if status != 0 and counts_here.failed == 0:
                counts_here.failed = 1
        counts.add(report(name, counts_here, time.monotonic() - start, log))
    return counts


def client_java(words):
    folder, log = ROOT / "clients" / "java", LOGS / "clients-java.log"
    reports = "**/target/surefire-reports/TEST-*.xml"
    for old in folder.glob(reports):
        old.unlink()
    command = ["mvn", "-q", "-B", "test"]
    if words:
        command += [f"-Dtest=*{words}*,*#*{words}*", "-Dsurefire.failIfNoSpecifiedTests=false"]
    start, counts = time.monotonic(), Counts()
    status = run(command, log, LIMIT_S["clients"], folder=folder)
    for result in folder.glob(reports):
        counts.add(count_junit(result))
    if status != 0 and counts.failed == 0:
        counts.failed = 1
    return report("clients/java", counts, time.monotonic() - start, log)


def system(words):
    """The real binaries with real clients, by pytest."""
    folder = ROOT / "tests" / "system"
    if not list(folder.glob("**/test_*.py")):
        return Counts()
    log, result = LOGS / "system.log", LOGS / "system.xml"
    result.unlink(missing_ok=True)
    command = [python_with("confluent_kafka, numpy, pytest"), "-m", "pytest", "-v", "-p", "no:cacheprovider", "--durations=15"]
    command += [f"--junitxml={result}", folder]
    if words:
        command += ["-k", words]

    def progress(line):
        if PYTEST_OUTCOME.match(line):
            say(f"       {line.rstrip()}")

    start = time.monotonic()
    status = run(command, log, LIMIT_S["system"], PYTHON, progress)
    counts = pytest_counts(result, status, words)
    return report("system", counts, time.monotonic() - start, log)


def python_with(modules):
    """An interpreter for which the distribution's packages of these are installed."""
    for python in (sys.executable, "/usr/bin/python3"):
        command = [python, "-c", f"import {modules}"]
        probe = subprocess.run(command, capture_output=True, check=False)
        if probe.returncode == 0:
            return python
    return sys.executable


def pytest_counts(result, status, words):
    counts, no_test_matched = count_junit(result), 5
    if status != 0 and counts.failed == 0 and not (words and status == no_test_matched):
        counts.failed = 1
    return counts


def count_junit(result):
    """pytest's report, or one of Maven's."""
    counts = Counts()
    try:
        cases = list(xml.etree.ElementTree.parse(result).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError):
        return counts
    for case in cases:
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            counts.failed += 1
        elif "skipped" in kinds:
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("-k", dest="words", default="", help="only tests whose name contains this")
    parser.add_argument("--no-build", action="store_true", help="take the binaries as they are")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")
    chosen = [part for part in PARTS if part in arguments.parts or not arguments.parts]

    start, total, built = time.monotonic(), Counts(), {}
    actions = {
        "rules": rules,
        "unit": lambda words: google_tests("release", binaries_of("release", False), words),
        "simulation": lambda words: google_tests("release", binaries_of("release", True), words),
        "asan-ubsan": lambda words: sanitized("asan-ubsan", words),
        "tsan": lambda words: sanitized("tsan", words),
        "clients": clients,
        "system": system,
    }
    for part in chosen:
        preset = PRESETS.get(part)
        if preset and not arguments.no_build and preset not in built:
            built[preset] = build(preset)
            total.add(built[preset])
        if preset in built and built[preset].failed:
            continue
        total.add(actions[part](arguments.words))
    say(f"took {time.monotonic() - start:.0f} s; logs in {LOGS.relative_to(ROOT)}")
    say(str(total))
    return 0 if total.passed > 0 and total.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
