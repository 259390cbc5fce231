"""Asks both filters about every request, then asks the daemon why they differ."""

from __future__ import annotations

import argparse
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Union

from seen_compare import Problem, Stopped
from seen_compare.comparison import Comparison
from seen_compare.daemon import Daemon
from seen_compare.old_filters import AnswersFile, OldAnswer, OldFilter
from seen_compare.reasons import NO_ANSWER, Side, find_reasons
from seen_compare.request_file import Request, RequestFile

BATCH_REQUESTS = 32
BATCH_CANDIDATES = 50_000  # bounds memory if requests are large
FAILURES_IN_A_ROW_MAX = 100
FAILURE_EXAMPLES_MAX = 20


@dataclass
class Report:
    comparison: Comparison
    at_ms: int  # when the comparison began
    old_filter: str = ""  # for a person: "Redis at 127.0.0.1:6379, BF.MEXISTS seen:{user}"
    new_filter: str = ""
    only_old: Side = field(default_factory=Side)
    only_new: Side = field(default_factory=Side)
    # Requests that could not be compared. They count neither as agreement nor as difference.
    bad_lines: int = 0
    without_old: int = 0  # the old filter gave no answer
    without_new: int = 0  # the daemon gave no answer, or another daemon owns the user
    failures: list[str] = field(default_factory=list)  # place and error, of the first
    stopped: str = ""  # why the run ended early; "": it didn't
    warnings: list[str] = field(default_factory=list)

    @property
    def not_compared(self) -> int:
        return self.bad_lines + self.without_old + self.without_new

    @property
    def why_unanswered(self) -> int:
        sides = self.only_old, self.only_new
        return sum(count for side in sides for reason, count in side.reasons if reason == NO_ANSWER)

    @property
    def is_complete(self) -> bool:
        """There were requests, every request was compared, and every question was answered."""
        return self.comparison.requests > 0 and not (self.stopped or self.not_compared or self.why_unanswered)

    def add_failure(self, place: str, problem: object) -> None:
        if len(self.failures) < FAILURE_EXAMPLES_MAX:
            self.failures.append(f"{place}: {problem}")


Outcome = tuple[Union[OldAnswer, Problem, Stopped], Union[set[str], Problem]]
"""Both answers to one request. After an old filter's problem the daemon isn't asked."""


class CompareRun:
    """Takes the requests in waves of one batch a connection. So the results don't depend on which thread is
    faster, and memory holds one wave."""

    def __init__(
        self, options: argparse.Namespace, daemon: Daemon, old_filter: OldFilter | AnswersFile
    ) -> None:
        self.options, self.daemon = options, daemon
        self.old_filter = None if isinstance(old_filter, AnswersFile) else old_filter
        self.answers = old_filter if isinstance(old_filter, AnswersFile) else None
        self.interrupted = threading.Event()
        self.failures_in_a_row = 0

    def run(self, requests: RequestFile, progress: Callable[[int, int], None]) -> Report:
        """Never fails as a whole. `progress` gets the requests so far, and how many of them differ."""
        comparison = Comparison(self.options.why_max, seed=1)
        report = Report(comparison, at_ms=time.time_ns() // 1_000_000)
        try:
            for wave in self.read_waves(requests, report):
                self.compare_wave(wave, report)
                progress(comparison.requests, comparison.requests_that_differ)
                if self.interrupted.is_set():
                    raise Stopped("interrupted")
            self.check_left_over(requests.lines)
        except Stopped as stopped:
            report.stopped = f"{stopped}"
        add_warnings(requests, report)
        now_ms = time.time_ns() // 1_000_000
        report.only_old, report.only_new = (
            find_reasons(sample, self.daemon, self.options, self.interrupted, now_ms)
            for sample in (comparison.only_old, comparison.only_new)
        )
        if self.interrupted.is_set():
            report.stopped = report.stopped or "interrupted while asking for reasons"
        return report

    def read_waves(self, requests: RequestFile, report: Report) -> Iterator[list[list[Request]]]:
        """If the file breaks off, what stands before is compared first."""
        wave: list[list[Request]] = [[]]
        candidates = 0
        broken = None
        try:
            for place, request in requests:
                if isinstance(request, Problem):
                    report.bad_lines += 1
                    report.add_failure(place, request)
                    continue
                request.filter = request.filter or self.options.filter
                if len(wave[-1]) == BATCH_REQUESTS or candidates >= BATCH_CANDIDATES:
                    if len(wave) == self.options.connections:
                        yield wave
                        wave = []
                    wave.append([])
                    candidates = 0
                wave[-1].append(request)
                candidates += len(request.items)
        except Stopped as stopped:
            broken = stopped
        yield wave
        if broken:
            raise broken

    def compare_wave(self, wave: list[list[Request]], report: Report) -> None:
        """Counts all outcomes before an old filter's end stops the run."""
        asked_old = [self.ask_answers(batch) for batch in wave] if self.answers else itertools.repeat(None)
        with ThreadPoolExecutor(self.options.connections) as threads:
            outcomes = list(threads.map(self.ask_batch, wave, asked_old))
        stopped: Stopped | None = None
        for request, (old, new) in zip(itertools.chain(*wave), itertools.chain(*outcomes)):
            if isinstance(old, Stopped):
                stopped = stopped or old
                continue
            if isinstance(old, OldAnswer) and not isinstance(new, Problem):
                report.comparison.add(request, old, new)
                self.failures_in_a_row = 0
                continue
            report.without_old += isinstance(old, Problem)
            report.without_new += isinstance(new, Problem)
            report.add_failure(request.place, old if isinstance(old, Problem) else new)
            self.failures_in_a_row += 1
            if self.failures_in_a_row == FAILURES_IN_A_ROW_MAX:
                stopped = stopped or Stopped(f"{FAILURES_IN_A_ROW_MAX} requests in a row had no answer")
        if stopped:
            raise stopped

    def ask_answers(self, batch: Sequence[Request]) -> list[OldAnswer | Problem | Stopped]:
        """One answer at a time: if the file ends early, the requests before its end are still compared."""
        assert self.answers
        answers: list[OldAnswer | Problem | Stopped] = []
        for request in batch:
            try:
                answers.append(self.answers.ask_one(request))
            except Stopped as stopped:
                answers.append(stopped)
        return answers

    def ask_batch(
        self, batch: Sequence[Request], old_answers: Sequence[OldAnswer | Problem | Stopped] | None
    ) -> list[Outcome]:
        if self.old_filter:
            try:
                old_answers = self.old_filter.ask(batch)
            except Stopped as stopped:
                old_answers = [stopped] * len(batch)
        return [(old, self.ask_daemon(request, old)) for request, old in zip(batch, old_answers or ())]

    def ask_daemon(self, request: Request, old: OldAnswer | Problem | Stopped) -> set[str] | Problem:
        if not isinstance(old, OldAnswer):
            return set()
        try:
            return self.daemon.dropped(request)
        except Problem as problem:
            return problem

    def check_left_over(self, lines: int) -> None:
        """If the file has more answers than requests, the files don't belong together."""
        if self.answers and self.answers.has_more_than(lines):
            raise Stopped(f"--answers: the file has more answers than the {lines} requests")


def add_warnings(requests: RequestFile, report: Report) -> None:
    """If a filter drops nothing in a whole file, the cause is more often a wrong name than a fact."""
    total, unknown = report.comparison.total, report.comparison.unknown_items
    if total.candidates and total.both + total.only_old == 0:
        report.warnings.append(
            "the old filter dropped nothing at all: check that you write keys, users and items as the old "
            "filter does"
        )
    if total.candidates and total.both + total.only_new == 0:
        report.warnings.append(
            "this filter dropped nothing at all: check that it has the history, and knows these users"
        )
    if unknown:
        report.warnings.append(
            f"the old filter named {unknown:,} items that aren't candidates of their request: write ids in the "
            "same way on both sides"
        )
    for name, lines in sorted(requests.unused.items()):
        report.warnings.append(f'seen-compare doesn\'t use the member "{name}" of {lines:,} lines')
