"""Draws docs/filters/*.svg."""

import math
from html import escape

import charts
from figures import least
from tables import is_known

COLOURS = [
    "#2f7ebc",
    "#d1742b",
    "#3b9a57",
    "#b03a5b",
    "#7a5bb8",
    "#8a7a1d",
    "#1f9aa3",
    "#a05a2c",
    "#5f7382",
    "#c2558f",
    "#4a6fd4",
    "#6b8e23",
]
PANEL, LEFT, TOP, HEIGHT, GAP = 780, 50, 70, 280, 70
RATES = (0.02, 3e-7)  # the ends of the axis
BITS = (6, 64)


def bits_against_rate(figures, counts):
    """A panel for each number of items. To the right, false positives get rarer. Upwards are bits an item.
    Both axes are logarithmic."""
    kinds = list(dict.fromkeys(kind for kind, _ in figures.rows()))
    legend = TOP + len(counts) * (HEIGHT + GAP)
    height = legend + 20 * math.ceil(len(kinds) / 3)
    out = [
        charts.head(height, "Bits an item against the measured false-positive rate"),
        '<text class="title" x="10" y="20">Bits an item against the measured false-positive rate</text>',
        '<text x="10" y="38" opacity=".75">lower is smaller, further right is rarer; dashed: the least that any filter can take, log2(1 / rate)</text>',
    ]
    for index, items in enumerate(counts):
        out += panel(figures, items, TOP + index * (HEIGHT + GAP), kinds)
    for index, kind in enumerate(kinds):
        x, y = LEFT + 270 * (index % 3), legend + 20 * (index // 3)
        out.append(
            f'<circle cx="{x}" cy="{y - 4}" r="5" fill="{COLOURS[index % len(COLOURS)]}"/>'
            f'<text x="{x + 12}" y="{y}">{escape(kind)}</text>'
        )
    return "\n".join([*out, "</svg>", ""])


def panel(figures, items, top, kinds):
    def x_of(rate):
        return LEFT + PANEL * (math.log(RATES[0]) - math.log(max(rate, RATES[1]))) / (
            math.log(RATES[0]) - math.log(RATES[1])
        )

    def y_of(bits):
        return top + HEIGHT * (1 - math.log(bits / BITS[0]) / math.log(BITS[1] / BITS[0]))

    bottom = top + HEIGHT
    out = [
        f'<path class="axis" fill="none" d="M{LEFT} {top} V{bottom} H{LEFT + PANEL}"/>',
        f'<text x="{LEFT + 6}" y="{top - 8}">{items:,} items</text>',
    ]
    for bits in (8, 16, 32, 64):
        out.append(
            f'<path class="axis" opacity=".3" d="M{LEFT} {y_of(bits):.1f} H{LEFT + PANEL}"/>'
            f'<text x="{LEFT - 8}" y="{y_of(bits) + 4:.1f}" text-anchor="end">{bits}</text>'
        )
    for rate, text in ((1e-2, "1%"), (1e-3, "0.1%"), (1e-4, "0.01%"), (1e-5, "0.001%"), (1e-6, "0.0001%")):
        out.append(f'<text x="{x_of(rate):.1f}" y="{bottom + 18}" text-anchor="middle">{text}</text>')
    bound = [(x_of(2.0**-k), y_of(k)) for k in range(6, 22)]
    out.append(
        f'<path fill="none" class="axis" stroke-dasharray="4 4" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in bound)}"/>'
    )
    for index, kind in enumerate(kinds):
        colour = COLOURS[index % len(COLOURS)]
        sizes = [figures.sizes[kind, asked, items] for name, asked in figures.rows() if name == kind]
        points = [(x_of(size["rate"]), y_of(size["bits"])) for size in sizes if is_known(size)]
        if len(points) > 1:
            out.append(
                f'<path fill="none" stroke="{colour}" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'
            )
        out += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"><title>{escape(kind)}</title></circle>'
            for x, y in points
        ]
    return out


def look_up_times(figures, small, large, rate=0.01, longest_ns=60):
    rows = []
    for kind, asked in figures.rows_at(rate):
        near, far = (
            least(figures.speeds.get((kind, asked, items), {}).get("hit_ns")) for items in (small, large)
        )
        if near is not None and far is not None:
            beyond = far > longest_ns
            rows.append(
                (
                    kind,
                    "ours",
                    min(near, longest_ns),
                    f"{near:.1f} / {far:,.{0 if beyond else 1}f} ns" + (" (cut)" if beyond else ""),
                    min(far, longest_ns),
                )
            )
    return charts.bars(
        "A look-up that finds its item, nanoseconds",
        f"dark: of {small:,} items, light: of {large:,}; 2,000 at a time, hash included, the least of all rounds; shorter is better",
        rows,
    )
