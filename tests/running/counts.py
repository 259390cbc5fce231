"""How many tests passed, failed or were skipped, from the reports of GoogleTest, pytest, Maven and Go."""

import dataclasses
import json
import re
import xml.etree.ElementTree

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

    def or_failed(self, status):
        """These counts, with one failure if the command failed and no test did: a crash, a hang, a
        sanitizer."""
        if status != 0 and self.failed == 0:
            self.failed = 1
        return self

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def of_google_test(result):
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


def of_junit(result):
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


def of_pytest(result, status, words):
    """`words`: what -k asked for; that no test has such a name is no failure."""
    no_test_matched = 5
    return of_junit(result).or_failed(0 if words and status == no_test_matched else status)


def of_go(log):
    outcomes = GO_OUTCOME.findall(log.read_text(encoding="utf-8", errors="replace"))
    return Counts(outcomes.count("PASS"), outcomes.count("FAIL"), outcomes.count("SKIP"))
