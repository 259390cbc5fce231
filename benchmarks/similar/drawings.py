"""Draws docs/similar/*.svg: precision and recall, by distance, by length and by strength of edits."""

from html import escape

import charts
from measure import WORDS

PANEL, LEFT, TOP, HEIGHT, GAP = 760, 60, 62, 190, 62
PRECISION, RECALL, BEYOND = "#2f7ebc", "#d1742b", "#9aa3ad"
SEGMENTATIONS = (BEYOND, PRECISION, RECALL, "#3f9b6c")
DISTANCES = range(25)
PAIRS_MIN = 20


def curves(title, note, panels, x_title):
    """`panels`: (name, [label of x, ...], [(name, colour, [0 to 1 or None, ...]), ...]). They stand one below
    the other."""
    height = TOP + len(panels) * (HEIGHT + GAP) + 12
    out = [
        charts.head(height, title),
        f'<text class="title" x="10" y="20">{escape(title)}</text>',
        f'<text x="10" y="38" opacity=".75">{escape(note)}</text>',
    ]
    for index, (name, labels, series) in enumerate(panels):
        out += panel(name, labels, series, TOP + 18 + index * (HEIGHT + GAP), x_title)
    return "\n".join([*out, "</svg>", ""])


def panel(name, labels, series, top, x_title):
    bottom, step = top + HEIGHT, PANEL / max(1, len(labels) - 1)
    out = [
        f'<path class="axis" fill="none" d="M{LEFT} {top} V{bottom} H{LEFT + PANEL}"/>',
        f'<text class="title" x="{LEFT + 6}" y="{top - 8}">{escape(name)}</text>',
        f'<text x="{LEFT + PANEL}" y="{bottom + 34}" text-anchor="end" opacity=".75">{escape(x_title)}</text>',
    ]
    for part in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - HEIGHT * part
        out.append(
            f'<path class="axis" opacity=".3" d="M{LEFT} {y:.1f} H{LEFT + PANEL}"/><text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{part:.0%}</text>'
        )
    out += [
        f'<text x="{LEFT + step * i:.1f}" y="{bottom + 18}" text-anchor="middle">{escape(label)}</text>'
        for i, label in enumerate(labels)
    ]
    for index, (label, colour, values) in enumerate(series):
        points = [
            (LEFT + step * i, bottom - HEIGHT * value) for i, value in enumerate(values) if value is not None
        ]
        if points:
            out.append(
                f'<path fill="none" stroke="{colour}" stroke-width="1.5" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'
            )
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
        x = LEFT + PANEL - sum(28 + 7 * len(after) for after, *_ in series[index:])
        out.append(
            f'<circle cx="{x}" cy="{top - 12}" r="5" fill="{colour}"/><text x="{x + 10}" y="{top - 8}">{escape(label)}</text>'
        )
    return out


def upto(counts):
    """Running sums."""
    sums, total = [], 0
    for count in counts:
        total += count
        sums.append(total)
    return sums


def by_distance(corpora):
    """SimHash alone: precision and recall if all pairs within a number of bits were taken."""
    panels = []
    for corpus in corpora:
        every, right = (
            [sum(counts) for counts in zip(*(line[name] for line in corpus["distances"]))]
            for name in ("all", "pairs")
        )
        taken, found = upto(every), upto(right)
        precision = [found[d] / taken[d] if taken[d] else None for d in DISTANCES]
        recall = [found[d] / corpus["pairs"] if corpus["pairs"] else None for d in DISTANCES]
        panels.append(
            (
                corpus["title"],
                [str(d) for d in DISTANCES],
                [("precision", PRECISION, precision), ("recall", RECALL, recall)],
            )
        )
    return curves(
        "SimHash alone, by distance",
        "if all pairs within so many of 64 bits were taken for alike, nothing verified; the tables look up at most 3",
        panels,
        "bits",
    )


def by_length(corpora, run, beside):
    """Precision and recall of `run`, and the recall of the run `beside`."""
    panels = []
    for corpus in corpora:
        scores, others = (
            next(line["words"] for line in corpus["runs"] if line["run"] == name) for name in (run, beside)
        )
        shown = [i for i, score in enumerate(scores) if score["pairs"] >= PAIRS_MIN]
        panels.append(
            (
                corpus["title"],
                [words_label(i) for i in shown],
                [
                    ("precision", PRECISION, [scores[i]["precision"] for i in shown]),
                    ("recall", RECALL, [scores[i]["recall"] for i in shown]),
                    ("recall, SimHash alone", BEYOND, [others[i]["recall"] for i in shown]),
                ],
            )
        )
    return curves(
        "Both together, verified: by length",
        f"method: both, verify: sketch; classes of fewer than {PAIRS_MIN} true pairs are left out",
        panels,
        "words of the shorter text",
    )


def words_label(index):
    return f"{WORDS[index]}–{WORDS[index + 1] - 1}" if index + 1 < len(WORDS) else f"{WORDS[index]}+"


def chinese_by_strength(figures):
    """Recall of reposts by the strength of their edits: a panel for each kind of edit, a curve for each
    segmentation."""
    panels = []
    labels = ["not edited", *(f"{strength}%" for strength in figures["strengths"])]
    for of in figures["texts"]:
        beds = {
            (setting, bed["kind"], bed["percent"]): bed
            for setting, measured in of["settings"].items()
            for bed in measured["beds"]
        }
        kinds = dict.fromkeys(kind for _, kind, percent in beds if percent > 0)
        for kind in kinds if of["name"] == "long" else [kind for kind in kinds if kind == "all"]:
            series = []
            for setting, colour in zip(figures["drawn"], SEGMENTATIONS):
                shown = [
                    beds.get((setting, "converted", 0)),
                    *(beds.get((setting, kind, strength)) for strength in figures["strengths"]),
                ]
                series.append((setting, colour, [bed and bed["recall"] for bed in shown]))
            panels.append((f"{kind}{'' if of['name'] == 'long' else ', single lines'}", labels, series))
    return curves(
        "Reposts in Chinese: recall by strength of the edits",
        f"{figures['run']}; reposts in the {figures['script']} script;"
        " strength: characters inserted, changed or moved",
        panels,
        "of the text's characters",
    )
