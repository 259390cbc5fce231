"""Why only one of two filters drops a candidate, by the daemon's answers to `why`."""

from __future__ import annotations

import argparse
import datetime
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from seen_compare import Problem
from seen_compare.comparison import Difference, Sample
from seen_compare.daemon import Daemon

OLD_FILTER_DAYS = 30  # most old filters forget within a month


class Reason(NamedTuple):
    key: str  # one of a bounded set, for scripts: "exposed_today", "not_known"
    words: str  # the same for a person


REASONS = {
    "changed_meanwhile": "this filter changed between the comparison and the question why",
    "created_later": "shown only on days before the creation time that the request gives",
    "erased": "the user was erased",
    "fingerprint_collision": "never shown: it shares its fingerprint with an item that was shown",
    "never_shown": "never shown to this user according to the journal: the old filter errs",
    "no_answer": "the daemon gave no answer to why",
    "not_enough": "shown, but fewer times than this filter's exposures_min, or beyond its items_max",
    "not_known": "not known here: never shown (the old filter errs), or its exposure is missing here",
    "served": "returned by the recommender a moment ago, not yet shown",
    "served_ended": "returned by the recommender and never shown; its time as served has ended",
    "similar": "not shown itself, but like an item that was shown",
    "similar_demoted": "not shown itself, but like an item that was shown: this filter puts it last",
    "taken_back": "taken back: shown, and then removed",
    "window_left": "shown, but it has left this filter's window",
}


def reason(key: str) -> Reason:
    return Reason(key, REASONS[key])


NO_ANSWER = reason("no_answer")


def utc_day(time_ms: int) -> datetime.date:
    return datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc).date()


def age_of(time_ms: int, now_ms: int) -> tuple[str, str]:
    """Counts whole UTC days, as windows do."""
    days = (utc_day(now_ms) - utc_day(time_ms)).days
    for end, words in ((1, "today"), (7, "1 to 6 days ago"), (30, "7 to 29 days ago")):
        if days < end:
            return words.replace(" ", "_"), words
    return "30_days_ago_or_more", "30 or more days ago"


def why_only_new(why: dict[str, Any], now_ms: int) -> Reason:
    because = why["because"]
    if because == "exposed":
        counting = [segment for segment in why["segments"] if segment["counts"]]
        key, words = age_of(max((segment["last_at_ms"] for segment in counting), default=0), now_ms)
        kind = counting[0]["kind"] if counting else "exposed"
        if kind != "exposed":
            return Reason(f"{kind}_{key}", f"event of kind {kind}, {words}")
        return Reason(f"exposed_{key}", f"shown {words}")
    if because == "false_positive" and why["false_positive_of"] == "fingerprint":
        return reason("fingerprint_collision")
    return reason(because if because in ("served", "similar") else "changed_meanwhile")


def is_in_window(segments: dict[str, Any], at_ms: int) -> bool:
    """A kept exposure may not count because of its age, or of a limit of number (exposures_min, items_max)."""
    return any(
        segment["from_ms"] <= at_ms < segment["to_ms"]
        and segment["kind"] != "served"
        and segment["in_window"]
        for segment in segments["segments"]
    )


def kept_but_not_counted(why: dict[str, Any], segments: dict[str, Any] | None) -> Reason:
    shown = [segment for segment in why["segments"] if segment["kind"] != "served"]
    if not shown:
        return reason("served_ended")
    if segments is not None and any(is_in_window(segments, segment["last_at_ms"]) for segment in shown):
        return reason("not_enough")
    return reason("window_left")


def journal_would_know(difference: Difference, why: dict[str, Any], now_ms: int) -> bool:
    """Whether the journal would have the exposure that the old filter remembers. Few old filters know its
    time. Otherwise assume the oldest."""
    if why["exposures"] is None or not isinstance(why["journal"], dict):
        return False
    whole_from = why["journal"]["whole_from"]
    if whole_from is None:
        return True
    shown = utc_day(now_ms) - datetime.timedelta(days=OLD_FILTER_DAYS)
    if difference.old_since_ms:
        shown = utc_day(difference.old_since_ms)
    return bool(whole_from <= shown.isoformat())


def not_kept(difference: Difference, why: dict[str, Any], now_ms: int) -> Reason:
    if why["removed_until"] is not None:
        return reason("taken_back")
    if why["erased_until"] is not None:
        return reason("erased")
    if why["exposures"]:
        return reason("window_left")
    if journal_would_know(difference, why, now_ms):
        return reason("never_shown")
    if difference.old_since_ms:
        key, words = age_of(difference.old_since_ms, now_ms)
        return Reason(f"not_known_old_since_{key}", f"not known here; the old filter has it from {words}")
    return reason("not_known")


def reason_of(
    difference: Difference,
    why: dict[str, Any],
    segments: Callable[[], dict[str, Any] | None],
    now_ms: int,
) -> Reason:
    """`why` and `segments`: the JSON of GET .../why and .../segments. Raises KeyError or TypeError if they
    have another form."""
    if not difference.is_old:
        return why_only_new(why, now_ms)
    if why["seen"]:
        if difference.has_created_at:
            return reason("created_later")
        return reason("changed_meanwhile")
    if why["because"] == "similar":
        return reason("similar_demoted")
    if why["segments"]:
        return kept_but_not_counted(why, segments())
    return not_kept(difference, why, now_ms)


@dataclass
class Side:
    """The candidates that only one of the two filters drops."""

    items: int = 0
    asked: int = 0  # size of the even sample that the daemon was asked about
    reasons: list[tuple[Reason, int]] = field(default_factory=list)  # most items first
    examples: list[tuple[Difference, Reason]] = field(default_factory=list)  # ordered as `reasons`


def find_reasons(
    sample: Sample, daemon: Daemon, options: argparse.Namespace, interrupted: threading.Event, now_ms: int
) -> Side:
    """Asks why about every difference of the sample. An interrupt ends the questions; then `asked` is
    smaller."""

    def ask(difference: Difference) -> Reason | None:
        if interrupted.is_set():
            return None
        place = difference.filter, difference.user_id
        try:
            why = daemon.why(*place, difference.item_id)
            return reason_of(difference, why, lambda: daemon.segments(*place), now_ms)
        except (Problem, KeyError, TypeError, AttributeError):  # an answer of another version
            return NO_ANSWER

    differences = sample.in_order()
    by_key: dict[str, list[tuple[Difference, Reason]]] = {}
    with ThreadPoolExecutor(options.connections) as threads:
        reasons = list(threads.map(ask, differences))
    for difference, its in zip(differences, reasons):
        if its is not None:
            by_key.setdefault(its.key, []).append((difference, its))
    groups = sorted(by_key.values(), key=len, reverse=True)
    return Side(
        items=sample.total,
        asked=sum(map(len, groups)),
        reasons=[(group[0][1], len(group)) for group in groups],
        examples=[one for group in groups for one in group[: options.examples]],
    )
