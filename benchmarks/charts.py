"""Bar charts and curves as plain SVG, readable on light and dark pages."""

from html import escape

WIDTH, LABEL, ROW, TOP = 860, 310, 26, 46
STYLE = """<style>
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#3d4551}
.title{font-weight:600;font-size:15px}.value{font-variant-numeric:tabular-nums}
.ours{fill:#2f7ebc}.theirs{fill:#9aa3ad}.limit{fill:#c9a227}.light{opacity:.45}.axis{stroke:#9aa3ad;stroke-width:1}
.line{fill:none;stroke:#2f7ebc;stroke-width:1.5}
@media (prefers-color-scheme:dark){text{fill:#c6cdd5}.theirs{fill:#737d88}}
</style>"""


def bars(title, note, rows):
    """`rows`: (label, kind, value, text, value of the bar behind it or None). `kind`: ours, theirs or
    limit."""
    most = max([max(value or 0, behind or 0) for _, _, value, _, behind in rows] + [1e-9])
    room = WIDTH - LABEL - 150
    height = TOP + ROW * len(rows) + 12
    out = [
        head(height, title),
        f'<text class="title" x="10" y="20">{escape(title)}</text>',
        f'<text x="10" y="38" opacity=".75">{escape(note)}</text>',
    ]
    for index, (label, kind, value, text, behind) in enumerate(rows):
        y = TOP + ROW * index
        out.append(f'<text x="{LABEL - 10}" y="{y + 17}" text-anchor="end">{escape(label)}</text>')
        end = LABEL
        for part, extra in ((behind, " light"), (value, "")):
            if part:
                length = max(1.0, room * part / most)
                end = max(end, LABEL + length)
                out.append(
                    f'<rect class="{kind}{extra}" x="{LABEL}" y="{y + 4}" width="{length:.1f}" height="18" rx="2"/>'
                )
        out.append(f'<text class="value" x="{end + 8:.1f}" y="{y + 17}">{escape(text)}</text>')
    return "\n".join([*out, "</svg>", ""])


def lines(title, note, points, unit, x_unit):
    """One curve of points (x, y). Both axes begin at zero."""
    height, left, bottom = 260, 70, 40
    x_most, y_most = max(x for x, _ in points) or 1, max(y for _, y in points) * 1.15 or 1
    room, rise = WIDTH - left - 20, height - TOP - bottom
    at = [(left + room * x / x_most, height - bottom - rise * y / y_most) for x, y in points]
    path = " ".join(f"{'M' if i == 0 else 'L'}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(at))
    base = height - bottom
    out = [
        head(height, title),
        f'<text class="title" x="10" y="20">{escape(title)}</text>',
        f'<text x="10" y="38" opacity=".75">{escape(note)}</text>',
        f'<path class="axis" fill="none" d="M{left} {TOP} V{base} H{WIDTH - 20}"/>',
        f'<path class="line" d="{path}"/>',
    ]
    for part in (0, 0.5, 1):
        y = base - rise * part / 1.15
        out.append(
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{y_most / 1.15 * part:.0f}</text>'
        )
        out.append(
            f'<text x="{left + room * part:.1f}" y="{base + 18}" text-anchor="middle">{x_most * part:.0f}</text>'
        )
    out.append(f'<text x="{WIDTH - 20}" y="{base + 34}" text-anchor="end">{escape(x_unit)}</text>')
    out.append(f'<text x="{left + 6}" y="{TOP + 8}">{escape(unit)}</text>')
    return "\n".join([*out, "</svg>", ""])


def head(height, title):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img"><title>{escape(title)}</title>{STYLE}'
    )
