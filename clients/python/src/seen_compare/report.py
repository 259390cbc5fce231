"""The result of a comparison as text and as JSON."""

from __future__ import annotations

import datetime
from typing import Any

from seen_compare.comparison import SHARES, Agreement
from seen_compare.compare_run import Report
from seen_compare.reasons import Side


def time_text(time_ms: int) -> str:
    time = datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc)
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time_ms % 1000:03}Z"


def percent_text(part: int, whole: int) -> str:
    """Rounding never hides a difference: "98.94%", and never "100.00%" if something differs."""
    percent = part / whole * 100 if whole else 0.0
    if part < whole and percent > 99.99:
        return "99.99%"
    return "<0.01%" if part > 0 and percent < 0.01 else f"{percent:.2f}%"


def printable(text: str) -> str:
    """An id is text from outside. Control characters, which a terminal would obey, become "?"."""
    return "".join("?" if ord(c) < 0x20 or ord(c) == 0x7F else c for c in text)


def matrix(counts: Agreement) -> str:
    rows = (
        ("", "this filter drops", "this filter lets through"),
        ("the old one drops", f"{counts.both:,}", f"{counts.only_old:,}"),
        ("the old one lets through", f"{counts.only_new:,}", f"{counts.neither:,}"),
    )
    return "".join(f"  {name:<24}{drops:>20}{lets:>28}\n" for name, drops, lets in rows)


def side_text(who: str, side: Side, candidates: int) -> str:
    share = percent_text(side.items, candidates)
    text = f"\nonly {who} drops {side.items:,} ({share} of the candidates)"
    if side.asked < side.items:
        text += f"; reasons of {side.asked:,} of them, drawn at random"
    text += "\n"
    for reason, count in side.reasons:
        text += f"  {count:>12,} {percent_text(count, side.asked):>7}  {printable(reason.words)}\n"
        for difference, its in side.examples:
            if its.key == reason.key:
                question = f"{printable(difference.user_id)} {printable(difference.item_id)}"
                text += f"{'':24}  e.g. seenctl why {question}   ({printable(difference.place)})\n"
                break
    return text


def shares_text(report: Report) -> str:
    rows = [("share", "old filter", "this filter")]
    for name, *counts in zip(SHARES, report.comparison.old_shares, report.comparison.new_shares):
        rows.append((name, *(f"{count:,}" for count in counts)))  # type: ignore[arg-type]
    return "\nrequests by the share of their candidates that is dropped\n" + "".join(
        f"  {name:<12}{old:>14}{new:>14}\n" for name, old, new in rows
    )


def not_compared_text(report: Report) -> str:
    text = ""
    if report.not_compared:
        text += (
            f"\nnot compared: {report.not_compared:,} requests ({report.bad_lines:,} bad lines, "
            f"{report.without_old:,} without an answer of the old filter, {report.without_new:,} without one of "
            "the daemon)\n"
        )
        text += "".join(f"  {printable(example)}\n" for example in report.failures)
    if report.why_unanswered:
        text += f"\nwhy had no answer {report.why_unanswered:,} times\n"
    return text + (f"\nstopped early: {report.stopped}\n" if report.stopped else "")


def report_text(report: Report) -> str:
    comparison, total = report.comparison, report.comparison.total
    share = percent_text(total.agreed, total.candidates) if total.candidates else "nothing was compared"
    text = (
        f"old filter:  {report.old_filter}\nthis filter: {report.new_filter}\n\n"
        f"{comparison.requests:,} requests of {len(comparison.users):,} users, {total.candidates:,} candidates: "
        f"the filters agree on {total.agreed:,} ({share})\n"
    )
    text += matrix(total)
    if len(comparison.by_filter) > 1:
        for name, counts in sorted(comparison.by_filter.items()):
            share = percent_text(counts.agreed, counts.candidates)
            text += f"\nfilter {printable(name)}: {counts.candidates:,} candidates, agreement {share}\n"
            text += matrix(counts)
    text += side_text("the old filter", report.only_old, total.candidates)
    text += side_text("this filter", report.only_new, total.candidates)
    text += shares_text(report)
    if comparison.repeated or comparison.also_seen:
        text += (
            f"\nleft out: {comparison.repeated:,} candidates that a request names again, "
            f"{comparison.also_seen:,} that it has in also_seen\n"
        )
    return text + not_compared_text(report)


def counts_json(counts: Agreement) -> dict[str, Any]:
    return {
        "candidates": counts.candidates,
        "both_drop": counts.both,
        "neither_drops": counts.neither,
        "only_old_drops": counts.only_old,
        "only_new_drops": counts.only_new,
        "agreement": counts.share,
    }


def side_json(side: Side) -> dict[str, Any]:
    examples = []
    for difference, reason in side.examples:
        examples.append(
            {
                "user_id": difference.user_id,
                "item_id": difference.item_id,
                "filter": difference.filter,
                "reason": reason.key,
                "place": difference.place,
            }
        )
        if difference.old_since_ms:
            examples[-1]["old_since_ms"] = difference.old_since_ms  # type: ignore[assignment]
    reasons = [
        {"reason": reason.key, "words": reason.words, "items": count, "share": count / side.asked}
        for reason, count in side.reasons
    ]
    return {"items": side.items, "asked": side.asked, "reasons": reasons, "examples": examples}


def report_json(report: Report) -> dict[str, Any]:
    comparison = report.comparison
    shares = zip(SHARES, comparison.old_shares, comparison.new_shares)
    return {
        "complete": report.is_complete,
        "stopped": report.stopped or None,
        "at": time_text(report.at_ms),
        "old_filter": report.old_filter,
        "this_filter": report.new_filter,
        "requests": comparison.requests,
        "requests_that_differ": comparison.requests_that_differ,
        "users": len(comparison.users),
        "total": counts_json(comparison.total),
        "filters": [
            {"filter": name, **counts_json(counts)} for name, counts in sorted(comparison.by_filter.items())
        ],
        "only_old_drops": side_json(report.only_old),
        "only_new_drops": side_json(report.only_new),
        "dropped_shares": [
            {"share": share, "old_requests": old, "new_requests": new} for share, old, new in shares
        ],
        "not_compared": {
            "requests": report.not_compared,
            "bad_lines": report.bad_lines,
            "old_filter": report.without_old,
            "daemon": report.without_new,
            "why": report.why_unanswered,
            "examples": report.failures,
        },
        "left_out": {"repeated": comparison.repeated, "also_seen": comparison.also_seen},
        "unknown_items": comparison.unknown_items,
        "warnings": report.warnings,
    }
