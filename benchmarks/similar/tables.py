"""The tables of docs/SIMILAR.md."""

from measure import SIMILARITIES
from pages import table


def percent(value):
    return "—" if value is None else f"{100 * value:.1f}%"


def verdict(value, bar):
    return (
        f"**{percent(value)}**"
        if value is not None and value >= bar
        else f"{percent(value)} (below {100 * bar:g}%)"
    )


def runs(corpora):
    """The findings of each method, with its targets (bars)."""
    parts = []
    for corpus in corpora:
        rows = []
        for run in corpus["runs"]:
            method, verify, distance = run["run"].split("/")
            similar, figures = run["similar"], run["figures"]
            bars = corpus["bars"] if run["run"] == corpus["runs"][0]["run"] else None
            rows.append(
                [
                    f"`{method}`",
                    f"`{verify}`",
                    distance if method != "minhash" else "",
                    f"{similar['found']:,}",
                    verdict(similar["precision"], bars[0]) if bars else percent(similar["precision"]),
                    verdict(similar["recall"], bars[1]) if bars else percent(similar["recall"]),
                    percent(run["sparse_recall"]),
                    f"{figures['bytes'] / max(1, figures['items']):,.0f}",
                ]
            )
        parts.append(
            f"### {corpus['title']}\n\n{corpus['items']:,} distinct texts, {corpus['pairs']:,} true pairs"
            f" ({corpus['sparse']:,} of them between items that have at most 32 each).\n\n"
            + table(
                [
                    "`method`",
                    "`verify`",
                    "`distance_max`",
                    "pairs found",
                    "precision",
                    "recall",
                    "recall in small families",
                    "bytes an item",
                ],
                ["---", "---", "---:", "---:", "---:", "---:", "---:", "---:"],
                rows,
            )
        )
    return "\n\n".join(parts)


def lists(corpora):
    """The contents of the topic after the first run."""
    rows = []
    for corpus in corpora:
        run = corpus["runs"][0]
        near, first = run["lists"], run["first"]
        rows.append(
            [
                corpus["title"],
                f"{corpus['crowded_items']:,}",
                f"{corpus['most']:,}",
                f"{near['entries']:,}",
                share(near["right"], near["entries"]),
                share(near["right"], near["room"]),
                f"{first['grouped']:,}",
                share(first["right"], first["grouped"]),
                "—" if first["least"] is None else f"{first['least']:.2f}",
            ]
        )
    return table(
        [
            "",
            "items similar to more than 32 others",
            "most similar items of one item",
            "entries of near lists",
            "correct entries",
            "room in near lists that they fill",
            "items in another item's group",
            "of these, similar to its first item",
            "least similarity to the first item",
        ],
        ["---"] + ["---:"] * 8,
        rows,
    )


def share(part, whole):
    return percent(part / whole) if whole else "—"


def similarities(corpora):
    ends = [*SIMILARITIES[1:], None]
    names = [f"{least:g} to {end:g}" if end else "equal" for least, end in zip(SIMILARITIES, ends)]
    rows = []
    for corpus in corpora:
        scores = corpus["runs"][0]["similarities"]
        rows.append(
            [corpus["title"], *(f"{percent(score['recall'])} of {score['pairs']:,}" for score in scores)]
        )
    return table(
        ["recall of pairs whose Jaccard similarity is", *names], ["---"] + ["---:"] * len(names), rows
    )


def cost(corpora):
    """The cost of the first run, with one thread."""
    rows = []
    for corpus in corpora:
        figures, features, items = corpus["runs"][0]["figures"], corpus["features"], corpus["items"]
        rows.append(
            [
                corpus["title"],
                f"{features['bytes'] / items:,.0f}",
                *(
                    f"{1e6 * seconds / items:,.0f} µs"
                    for seconds in (features["seconds"], figures["apply_s"], figures["similar_s"])
                ),
                f"{figures['candidates'] / items:.1f}",
                f"{figures['bytes'] / items:,.0f}",
            ]
        )
    return table(
        [
            "an item of",
            "bytes as JSON",
            "text to features",
            "decision and write",
            "look-up (`/v1/similar`)",
            "verified candidates",
            "bytes on disk",
        ],
        ["---"] + ["---:"] * 6,
        rows,
    )


def plain(found):
    """`found`: {kind: distances of the true pairs of the long texts}."""
    rows = []
    for kind, counts in found.items():
        total = sum(counts)
        rows.append(
            [kind, *(percent(sum(counts[: bits + 1]) / total) for bits in (0, 3, 6, 10, 16))]
            if total
            else [kind, *["—"] * 5]
        )
    return table(
        ["64-bit SimHash of", "equal", "within 3 bits", "6", "10", "16"], ["---"] + ["---:"] * 5, rows
    )


CHINESE = {"long": "texts", "lines": "single lines"}


def chinese(figures):
    """Of each setting: the reposts that the bars are about, the natural pairs, and the speed. `figures`:
    figures["chinese"]."""
    texts = {of["name"]: of for of in figures["texts"]}
    sizes = [
        f"{of['items']:,} {CHINESE[name]} of {of['characters'] / of['items']:,.0f} characters on average"
        f" ({', '.join(f'{number:,} {lang}' for lang, number in sorted(of['langs'].items()))})"
        for name, of in texts.items()
    ]
    rows = []
    for name, of in texts.items():
        for setting, measured in of["settings"].items():
            bars = figures["bars"][name] if setting == figures["chosen"] else None
            rows.append(chinese_row(f"{CHINESE[name]}: reposts", setting, measured["together"], bars))
        for kind, title in (("all", "natural pairs"), ("two scripts", "natural pairs in two scripts")):
            rows += [
                chinese_row(f"{CHINESE[name]}: {title}", setting, measured["natural"][kind])
                for setting, measured in of["settings"].items()
            ]
    script = "the other script" if figures["script"] == "other" else "the same script"
    speeds = [
        [setting, f"{measured['microseconds']:,.0f} µs"]
        for setting, measured in texts["long"]["settings"].items()
    ]
    return "\n\n".join(
        (
            f"{' and '.join(sizes)}. Reposts are in {script}, with edits of at most {figures['percent']}%. The run is `{figures['run']}`.",
            table(
                ["", "segmentation", "true pairs", "found", "precision", "recall"],
                ["---", "---"] + ["---:"] * 4,
                rows,
            ),
            table(["segmentation", "features of 500 characters"], ["---", "---:"], speeds),
        )
    )


def chinese_row(title, setting, score, bars=None):
    rates = (score["precision"], score["recall"])
    return [
        title,
        setting,
        f"{score['pairs']:,}",
        f"{score['found']:,}",
        *(map(verdict, rates, bars) if bars else map(percent, rates)),
    ]


def chinese_kinds(figures):
    """Of texts and of lines: recall by kind, setting and strength, with the least precision of all strengths,
    and how many reposts there are."""
    parts = []
    columns = ["not edited", *(f"{strength}%" for strength in figures["strengths"])]
    for of in figures["texts"]:
        rows, reposts = [], []
        kinds = dict.fromkeys(bed["kind"] for measured in of["settings"].values() for bed in measured["beds"])
        for kind in kinds:
            for setting, measured in of["settings"].items():
                beds = [
                    next(
                        (
                            bed
                            for bed in measured["beds"]
                            if bed["kind"] == kind and bed["percent"] == strength
                        ),
                        None,
                    )
                    for strength in (0, *figures["strengths"])
                ]
                precisions = [bed["precision"] for bed in beds if bed and bed["precision"] is not None]
                rows.append(
                    [
                        kind,
                        setting,
                        *(percent(bed["recall"]) if bed else "" for bed in beds),
                        percent(min(precisions, default=None)),
                    ]
                )
            reposts.append(
                [kind, *(f"{bed['pairs']:,} ({percent(bed['reached'])})" if bed else "" for bed in beds)]
            )
        parts += [
            f"#### Recall by kind: {CHINESE[of['name']]}",
            table(
                ["kind", "segmentation", *columns, "the least precision"],
                ["---", "---"] + ["---:"] * (len(columns) + 1),
                rows,
            ),
            "How many reposts there are, and the strength that they reach on average:",
            table(["kind", *columns], ["---"] + ["---:"] * len(columns), reposts),
        ]
    return "\n\n".join(
        [*parts, "![Recall of reposts by strength, for each kind](similar/chinese-by-strength.svg)"]
    )
