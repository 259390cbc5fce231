"""The tables of docs/SIMILAR.md."""

import statistics

from chinese_measure import RULES as CHINESE_RULES
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
                    percent(run["near"]["precision"]),
                    percent(run["near"]["recall"]),
                    bytes_of(figures),
                ]
            )
        parts.append(
            f"### {corpus['title']}\n\n{corpus['items']:,} distinct texts, {corpus['near']:,} similar pairs,"
            f" {corpus['pairs']:,} of them with equal numbers ({corpus['sparse']:,} between items that have at"
            " most 32 such pairs each).\n\n"
            + table(
                [
                    "`method`",
                    "`verify`",
                    "`distance_max`",
                    "pairs found",
                    "precision",
                    "recall",
                    "recall in small families",
                    "by similarity alone: precision",
                    "recall",
                    "bytes an item",
                ],
                ["---", "---"] + ["---:"] * 8,
                rows,
            )
        )
    return "\n\n".join(parts)


def rules(figures):
    """A row for each test bed and each of RULES. `figures`: of descriptions, of Chinese texts, or both."""
    rows = []

    def add(what, name, score, near, bytes_an_item):
        rows.append([what, name, *rates(score), *(rates(near) if near else ["", ""]), bytes_an_item])

    for corpus in figures.get("corpora", ()):
        for name, of in corpus["rules"].items():
            add(corpus["title"], name, of["similar"], of["near"], bytes_of(of["figures"]))
    for of in (figures.get("chinese") or {}).get("texts", ()):
        settings = {name: of["settings"].get(setting) for name, setting in CHINESE_RULES.items()}
        settings = {name: measured for name, measured in settings.items() if measured}
        what = f"Chinese {CHINESE[of['name']]}"
        for name, measured in settings.items():
            natural = measured["natural"]
            add(
                f"{what}, natural pairs", name, natural["all"], natural["near"], bytes_of(measured["figures"])
            )
        for name, measured in settings.items():
            add(f"{what}, reposts", name, measured["together"], None, bytes_of(measured["figures"]))
    return table(
        [
            "texts",
            "rules",
            "precision",
            "recall",
            "by similarity alone: precision",
            "recall",
            "bytes an item",
        ],
        ["---", "---"] + ["---:"] * 5,
        rows,
    )


def bytes_of(figures):
    return f"{figures['bytes'] / max(1, figures['items']):,.0f}"


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


CHINESE = {"long": "texts", "lines": "single lines"}
NOT_SHOWN = frozenset(CHINESE_RULES.values()) - {"trigrams"}  # rules() has them


def chinese(figures):
    """A row for each setting: the reposts that the bars are about, the natural pairs, and the speed. `figures`:
    figures["chinese"]."""
    texts = {of["name"]: of for of in figures["texts"]}
    sizes = [
        f"{of['items']:,} {CHINESE[name]} of {of['characters'] / of['items']:,.0f} characters on average"
        f" ({', '.join(f'{number:,} {lang}' for lang, number in sorted(of['langs'].items()))})"
        for name, of in texts.items()
    ]
    head, rows = ["segmentation"], {}
    for name, of in texts.items():
        scores = {}
        for setting, measured in of["settings"].items():
            if setting in NOT_SHOWN:
                continue
            scores = {"reposts": measured["together"], "natural pairs": measured["natural"]["all"]}
            bars = {"reposts": figures["bars"][name]} if setting == figures["chosen"] else {}
            for what, score in scores.items():
                rows.setdefault(setting, []).extend(rates(score, bars.get(what)))
        for what, score in scores.items():
            head += [f"{CHINESE[name]}, {score['pairs']:,} {what}: precision", "recall"]
    for setting, row in rows.items():
        row.append(f"{texts['long']['settings'][setting]['microseconds']:,.0f} µs")
    script = "the other script" if figures["script"] == "other" else "the same script"
    return "\n\n".join(
        (
            f"{' and '.join(sizes)}. Reposts are in {script}, with edits of at most {figures['percent']}%. The run is `{figures['run']}`.",
            table(
                [*head, "features of 500 characters"],
                ["---"] + ["---:"] * len(head),
                [[setting, *row] for setting, row in rows.items()],
            ),
        )
    )


def rates(score, bars=None):
    found = (score["precision"], score["recall"])
    return list(map(verdict, found, bars) if bars else map(percent, found))


def chinese_kinds(figures):
    """Of texts and of lines: recall by kind and strength, with the least precision of all strengths. Only of
    the chosen segmentation, and of further settings where they change something; the chart has the others."""
    columns, usual = (0, *figures["strengths"]), usual_pairs(figures)
    parts = [
        f"A cell without a number has {usual:,} reposts. A row for a further setting is there where a recall "
        "differs by a point or more."
    ]
    for of in figures["texts"]:
        settings = {
            setting: {(bed["kind"], bed["percent"]): bed for bed in measured["beds"]}
            for setting, measured in of["settings"].items()
            if setting.startswith(figures["chosen"])
        }
        rows = []
        for kind in dict.fromkeys(kind for beds in settings.values() for kind, _ in beds):
            for setting, beds in settings.items():
                shown = [beds.get((kind, strength)) for strength in columns]
                precisions = [bed["precision"] for bed in shown if bed and bed["precision"] is not None]
                least = percent(min(precisions, default=None))
                recalls = [bed["recall"] or 0 for bed in shown if bed]
                if setting == figures["chosen"]:
                    chosen = recalls
                elif max((abs(one - other) for one, other in zip(recalls, chosen)), default=0) < 0.01:
                    continue
                rows.append([kind, setting, *(recall_text(bed, usual) for bed in shown), least])
        names = ["not edited", *(f"{strength}%" for strength in figures["strengths"])]
        parts += [
            f"#### Recall by kind: {CHINESE[of['name']]}",
            table(
                ["kind", "segmentation", *names, "the least precision"],
                ["---", "---"] + ["---:"] * (len(names) + 1),
                rows,
            ),
        ]
    return "\n\n".join(
        [*parts, "![Recall of reposts by strength, for each kind](similar/chinese-by-strength.svg)"]
    )


def usual_pairs(figures):
    """The number of reposts that most of the cells have."""
    return statistics.mode(
        bed["pairs"]
        for of in figures["texts"]
        for measured in of["settings"].values()
        for bed in measured["beds"]
    )


def recall_text(bed, usual):
    if not bed:
        return ""
    return percent(bed["recall"]) + (f" of {bed['pairs']:,}" if bed["pairs"] != usual else "")
