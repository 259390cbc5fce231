"""The tables of docs/SIMILAR.md."""

from measure import SIMILARITIES
from pages import table


def percent(value):
    return "—" if value is None else f"{100 * value:.1f}%"


def verdict(value, bar):
    return f"**{percent(value)}**" if value is not None and value >= bar else f"{percent(value)} (below {100 * bar:g}%)"


def runs(corpora):
    """The findings of each method, with its targets (bars)."""
    parts = []
    for corpus in corpora:
        rows = []
        for run in corpus["runs"]:
            method, verify, distance = run["run"].split("/")
            similar, figures = run["similar"], run["figures"]
            bars = corpus["bars"] if run["run"] == corpus["runs"][0]["run"] else None
            rows.append([f"`{method}`", f"`{verify}`", distance if method != "minhash" else "", f"{similar['found']:,}",
                         verdict(similar["precision"], bars[0]) if bars else percent(similar["precision"]),
                         verdict(similar["recall"], bars[1]) if bars else percent(similar["recall"]),
                         percent(run["sparse_recall"]), f"{figures['bytes'] / max(1, figures['items']):,.0f}"])
        parts.append(f"### {corpus['title']}\n\n{corpus['items']:,} distinct texts, {corpus['pairs']:,} true pairs"
                     f" ({corpus['sparse']:,} of them between items that have at most 32 each).\n\n" +
                     table(["`method`", "`verify`", "`distance_max`", "pairs found", "precision", "recall", "recall in small families", "bytes an item"],
                           ["---", "---", "---:", "---:", "---:", "---:", "---:", "---:"], rows))
    return "\n\n".join(parts)


def lists(corpora):
    """The contents of the topic after the first run."""
    rows = []
    for corpus in corpora:
        run = corpus["runs"][0]
        near, first = run["lists"], run["first"]
        rows.append([corpus["title"], f"{corpus['crowded_items']:,}", f"{corpus['most']:,}", f"{near['entries']:,}", share(near["right"], near["entries"]),
                     share(near["right"], near["room"]), f"{first['grouped']:,}", share(first["right"], first["grouped"]),
                     "—" if first["least"] is None else f"{first['least']:.2f}"])
    return table(["", "items like more than 32", "the most", "entries of near lists", "of them right", "of the room filled", "items in another's group",
                  "truly like its first", "the least like"], ["---"] + ["---:"] * 8, rows)


def share(part, whole):
    return percent(part / whole) if whole else "—"


def similarities(corpora):
    ends = [*SIMILARITIES[1:], None]
    names = [f"{least:g} to {end:g}" if end else "equal" for least, end in zip(SIMILARITIES, ends)]
    rows = []
    for corpus in corpora:
        scores = corpus["runs"][0]["similarities"]
        rows.append([corpus["title"], *(f"{percent(score['recall'])} of {score['pairs']:,}" for score in scores)])
    return table(["recall of pairs whose Jaccard similarity is", *names], ["---"] + ["---:"] * len(names), rows)


def cost(corpora):
    """The cost of the first run, with one thread."""
    rows = []
    for corpus in corpora:
        figures, features, items = corpus["runs"][0]["figures"], corpus["features"], corpus["items"]
        rows.append([corpus["title"], f"{features['bytes'] / items:,.0f}", *(f"{1e6 * seconds / items:,.0f} µs" for seconds in (
            features["seconds"], figures["apply_s"], figures["similar_s"])), f"{figures['candidates'] / items:.1f}", f"{figures['bytes'] / items:,.0f}"])
    return table(["an item of", "bytes as JSON", "text to features", "decided and stored", "asked for (`/v1/similar`)", "candidates verified", "bytes on disk"],
                 ["---"] + ["---:"] * 6, rows)


def plain(found):
    """`found`: {kind: distances of the true pairs of the long texts}."""
    rows = []
    for kind, counts in found.items():
        total = sum(counts)
        rows.append([kind, *(percent(sum(counts[:bits + 1]) / total) for bits in (0, 3, 6, 10, 16))] if total else [kind, *["—"] * 5])
    return table(["64-bit SimHash of", "equal", "within 3 bits", "6", "10", "16"], ["---"] + ["---:"] * 5, rows)
