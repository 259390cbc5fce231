"""A comparison as a page for the people who decide about the cut-over: three charts and a few sentences."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from seen_compare.compare_run import Report
from seen_compare.comparison import SHARES
from seen_compare.reasons import Side
from seen_compare.report import percent_text, printable, time_text

BOTH, NEITHER, OLD, NEW = "#1f6f78", "#9fc9c4", "#d9822b", "#6a4fb3"
TEXT, TRACK = "#1d2733", "#eceff3"
WIDTH = 7.6  # inches; the page scales its pictures

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The old filter and seen, compared</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2733; max-width: 820px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; line-height: 1.25; } h2 { font-size: 1.2em; margin-top: 2em; }
.note { color: #5b6673; } .warning { background: #fff3e0; border-left: 4px solid #d9822b; padding: .5em 1em; }
svg { width: 100%; height: auto; display: block; margin: 1em 0; }
table { border-collapse: collapse; width: 100%; font-size: .9em; }
th, td { text-align: left; padding: .3em .6em; border-bottom: 1px solid #dde2e8; overflow-wrap: anywhere; }
</style>
</head>
<body>
"""


def escape(text: str) -> str:
    return html.escape(printable(text))


def paragraph(text: str, css: str = "") -> str:
    return f"<p class='{css}'>{escape(text)}</p>\n"


def part_text(part: int, whole: int) -> str:
    return f"{part:,} ({percent_text(part, whole)})"


def summary(report: Report) -> str:
    comparison, total = report.comparison, report.comparison.total
    heading = "Nothing was compared"
    if total.candidates:
        share = percent_text(total.agreed, total.candidates)
        heading = f"The two filters agree on {share} of {total.candidates:,} candidates"
    return (
        f"<h1>{heading}</h1>\n"
        + paragraph(
            f"Both filters answered {comparison.requests:,} real requests of {len(comparison.users):,} users on "
            f"{time_text(report.at_ms)[:10]}. In {comparison.requests_that_differ:,} of the requests the filters "
            "differ in one candidate or more."
        )
        + paragraph(
            f"After the cut-over, this filter would let through {part_text(total.only_old, total.candidates)} "
            "candidates that the old filter drops, and drop "
            f"{part_text(total.only_new, total.candidates)} that the old filter lets through."
        )
        + paragraph(f"Old filter: {report.old_filter}. This filter: {report.new_filter}.", "note")
    )


def warnings(report: Report) -> str:
    texts = [f"Warning: {warning}." for warning in report.warnings]
    if report.why_unanswered:
        texts.insert(0, f"{report.why_unanswered:,} reasons are unknown: the daemon gave no answer.")
    if report.not_compared:
        texts.insert(
            0,
            f"{report.not_compared:,} requests are not in these numbers: {report.bad_lines:,} bad lines, "
            f"{report.without_old:,} without an answer of the old filter, {report.without_new:,} without one of "
            "this filter.",
        )
    if report.stopped:
        texts.insert(0, f"The comparison stopped early: {report.stopped}")
    return "".join(paragraph(text, "warning") for text in texts)


def chart(title: str, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot(label=title)
    axes.set_axis_off()
    return figure, axes


def svg_of(figure: Figure, title: str) -> str:
    """The picture as an element of the page. Its texts stay texts."""
    figure.set_edgecolor("none")
    text = io.StringIO()
    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": title,
        "font.family": "sans-serif",
        "text.color": TEXT,
    }
    with matplotlib.rc_context(settings):
        no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=True, metadata=no_metadata)
    svg = text.getvalue()
    return f'<svg role="img" aria-label="{escape(title)}" ' + svg[svg.index("<svg ") + len("<svg ") :]


def visible(value: int, whole: int) -> float:
    """A value above 0 is always visible."""
    return max(value, whole * 0.003) if value else 0


def agreement_chart(report: Report) -> str:
    title, total = "Agreement of the two filters", report.comparison.total
    parts = (
        ("Both let it through", total.neither, NEITHER),
        ("Both drop it", total.both, BOTH),
        ("Only the old filter drops it", total.only_old, OLD),
        ("Only this filter drops it", total.only_new, NEW),
    )
    figure, axes = chart(title, 1.9)
    left = 0.0
    for _, value, color in parts:
        width = visible(value, total.candidates)
        axes.barh(0, width, left=left, color=color)
        left += width
    axes.set_xlim(0, left or 1)
    handles = [
        Patch(color=color, label=f"{label}: {part_text(value, total.candidates)}")
        for label, value, color in parts
    ]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, 0), frameon=False, borderaxespad=0)
    return svg_of(figure, title)


def reason_bars(side: Side) -> list[tuple[str, int, str]]:
    """(words, items, their text). The sample's reasons are scaled to all differences, so that the bars of
    both sides have the same scale."""
    about = "about " if side.asked < side.items else ""
    bars = []
    for reason, count in side.reasons:
        items = round(count / side.asked * side.items)
        bars.append((reason.words, items, f"{about}{items:,} ({percent_text(count, side.asked)})"))
    return bars


def reason_chart(report: Report) -> str:
    title = "What only one filter drops, by reason"
    sides = (("the old filter", report.only_old, OLD), ("this filter", report.only_new, NEW))
    groups = [(who, side, color, reason_bars(side)) for who, side, color in sides]
    most = max((items for group in groups for _, items, _ in group[3]), default=0) or 1
    rows = sum(1 + len(bars) for *_, bars in groups)
    figure, axes = chart(title, 0.2 + 0.42 * rows)
    y = 0.0
    for who, side, color, bars in groups:
        axes.text(0, y, f"Only {who} drops: {side.items:,}", weight="bold", va="bottom")
        for words, items, text in bars:
            y += 1
            axes.text(0, y - 0.15, printable(words), va="bottom", parse_math=False)
            axes.text(most, y - 0.15, text, va="bottom", ha="right")
            axes.barh(y, most, height=0.25, color=TRACK)
            axes.barh(y, visible(items, most), height=0.25, color=color)
        y += 1
    axes.set_xlim(0, most)
    axes.set_ylim(y, -1)
    page = svg_of(figure, title)
    asked, items = (sum(getattr(side, name) for _, side, _ in sides) for name in ("asked", "items"))
    if asked < items:
        page += paragraph(
            f"The daemon gave the reasons of {asked:,} differences, drawn at random. The numbers are estimates "
            "from these differences.",
            "note",
        )
    return page


def share_chart(report: Report) -> str:
    title = "Requests by the share of their candidates that is dropped"
    series = (
        ("Old filter", OLD, report.comparison.old_shares),
        ("This filter", NEW, report.comparison.new_shares),
    )
    figure, axes = chart(title, 2.8)
    most = max(max(values) for *_, values in series) or 1
    for i, (name, color, values) in enumerate(series):
        places = [place + (i - 0.5) * 0.42 for place in range(len(SHARES))]
        bars = axes.bar(places, [visible(value, most) for value in values], 0.4, color=color, label=name)
        axes.bar_label(bars, [f"{value:,}" if value else "" for value in values], fontsize=8)
    for place, share in enumerate(SHARES):
        axes.text(place, -0.03 * most, share, ha="center", va="top", fontsize=8)
    axes.axhline(0, color="#5b6673", linewidth=1)
    axes.set_ylim(-0.12 * most, most * 1.1)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    return svg_of(figure, title)


def examples(sides: Sequence[tuple[str, Side]]) -> str:
    rows = ""
    for who, side in sides:
        for difference, reason in side.examples:
            cells = who, difference.user_id, difference.item_id, reason.words, difference.place
            rows += f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>\n"
    if not rows:
        return ""
    heads = "".join(f"<th>{head}</th>" for head in ("Only dropped by", "User", "Item", "Reason", "Request"))
    return (
        "<details>\n<summary>Examples, for engineers</summary>\n"
        f"<table>\n<tr>{heads}</tr>\n{rows}</table>\n</details>\n"
    )


def report_page(report: Report) -> str:
    """A whole HTML document, which loads nothing: no script, no font, no picture."""
    return (
        f"{HEAD}{summary(report)}{warnings(report)}"
        f"<h2>How often do the filters agree?</h2>\n{agreement_chart(report)}"
        f"<h2>What does only one of them drop, and why?</h2>\n{reason_chart(report)}"
        f"<h2>How much of a request is dropped?</h2>\n{share_chart(report)}"
        f"{examples((('the old filter', report.only_old), ('this filter', report.only_new)))}"
        "</body>\n</html>\n"
    )
