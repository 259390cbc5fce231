"""The tables of docs/FILTERS.md."""

from figures import least, middle
from pages import table

# The numbers of items that the page shows; build/bench/filters.json has more.
IN_ALL = (3_000,)
IN_SMALL = (1, 5, 20, 100)
# The claims of the papers: size (against a standard Bloom filter), accesses of a look-up, and deletion.
CLAIMS = {
    "bloom": ("1×", "k", "no"),
    "split_block_bloom": ("1×", "1", "no"),
    "counting_bloom": ("3–4×", "k", "yes"),
    "d_left": ("1.5–2×", "d", "yes"),
    "quotient": ("1–1.2×", "≥ 1", "yes"),
    "cuckoo": ("≤ 1×", "2", "yes"),
}
# Figures of the best open implementation at a million items, on larger machines.
PUBLISHED = {
    ("split_block_bloom", 0.0094): (10.7, 0.0094, 14),
    ("cuckoo", 0.0018): (12.8, 0.0018, 25),
    ("binary_fuse_8", None): (9.0, 0.0039, None),
}
BARS_NS = {"given the hash": 3, "recall": 25_000}


def percent(rate):
    """A measured rate, with three digits. Further digits aren't known."""
    return f"{100 * rate:#.3g}%" if rate >= 1e-5 else f"{rate:.1e}"


def is_known(size):
    """Whether enough false positives were seen to state a rate. The rate of an exact set is arithmetic, not
    measured."""
    return size["false_positives"] >= 100 or size["rate_filters"] == 0


def rate_of(size):
    if is_known(size):
        return percent(size["rate"])
    seen = size["false_positives"]
    return "< " + percent((seen + 3 * seen**0.5 + 3) / size["strangers"])


def ratio_of(size):
    return f"{size['bloom_ratio']:.2f}×" if is_known(size) else "—"


def asked_text(rate):
    return "fixed" if rate is None else f"{100 * rate:g}%"


def number(value):
    if value is None:
        return "—"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def span(samples):
    """The least and the median."""
    if not samples:
        return "—"
    low, mid = number(least(samples)), number(middle(samples))
    return low if low == mid else f"{low}–{mid}"


def yes(value):
    return "yes" if value else "no"


def titled(kind):
    return "`split_block_bloom`, `power_of_two`" if "," in kind else f"`{kind}`"


def lines_of(size):
    return f"{size['lines_hit']:.1f} / {size['lines_miss']:.1f}".replace(".0", "")


def beside_the_papers(figures, items, rate=0.01):
    """One row for each kind, with the claims of the papers."""
    rows = []
    for kind, asked in figures.rows_at(rate):
        size = figures.sizes[kind, asked, items]
        claim = CLAIMS.get(kind, ("", "", ""))
        rows.append(
            [
                titled(kind),
                f"{size['bits']:.1f}",
                rate_of(size),
                ratio_of(size),
                claim[0],
                lines_of(size),
                claim[1],
                yes(size["removes"]),
                claim[2],
                yes(size["merges"]),
            ]
        )
    return table(
        [
            "",
            "bits an item",
            "measured rate",
            "of a Bloom filter's bits at that rate",
            "papers",
            "cache lines, hit / miss",
            "papers",
            "deletes",
            "papers",
            "merges",
        ],
        ["---", *["---:"] * 6, *["---"] * 3],
        rows,
    )


def all_of(figures, items):
    """All rows for one number of items."""
    rows = []
    for kind, asked in figures.rows():
        size, speed = figures.sizes[kind, asked, items], figures.speeds.get((kind, asked, items), {})
        recall = figures.recalls.get((kind, asked, items), {"ns": [], "with_parse_ns": []})
        rows.append(
            [
                titled(kind),
                asked_text(asked),
                rate_of(size),
                f"{size['bits']:.2f}",
                ratio_of(size),
                lines_of(size),
                *[span(speed.get(name)) for name in ("build_ns", "hit_ns", "miss_ns")],
                *[span([ns / 1000 for ns in recall[name]]) for name in ("ns", "with_parse_ns")],
                span([ns / 1000 for ns in speed.get("parse_ns", [])]),
            ]
        )
    return table(
        [
            "",
            "asked",
            "measured",
            "bits an item",
            "of Bloom",
            "lines, hit / miss",
            "ns to build an item",
            "ns a hit",
            "ns a miss",
            "µs for 2,000 candidates",
            "with parsing the snapshot",
            "µs to parse the payload",
        ],
        ["---", *["---:"] * 11],
        rows,
    )


def small(figures):
    """Bytes of a payload. The fewest at each rate are bold."""
    parts = []
    for rate in (0.01, 0.001):
        counts = [items for items in figures.small_items() if items in IN_SMALL]
        best = {
            items: min(
                figures.small[kind, asked, items]["bytes"]
                for kind, asked in figures.rows_at(rate)
                if fits(kind, asked, rate)
            )
            for items in counts
        }
        rows = []
        for kind, asked in figures.rows_at(rate):
            if not fits(kind, asked, rate):
                continue
            values = [figures.small[kind, asked, items]["bytes"] for items in counts]
            rows.append(
                [
                    titled(kind),
                    *[
                        f"**{value:.0f}**" if value <= best[items] + 0.5 else f"{value:.0f}"
                        for items, value in zip(counts, values)
                    ],
                ]
            )
        parts.append(
            f"At {asked_text(rate)}:\n\n"
            + table(["items", *map(str, counts)], ["---", *["---:"] * len(counts)], rows)
        )
    return "\n\n".join(parts)


def auto(figures):
    """The kind that `auto` picks, by number of items. Neighbouring numbers with the same pick share a row."""
    rates, rows = sorted({rate for rate, _ in figures.auto}, reverse=True), []
    for items in sorted({items for _, items in figures.auto}):
        picks = [f"`{figures.auto[rate, items]}`" for rate in rates]
        if rows and rows[-1][2] == picks:
            rows[-1][1] = items
        else:
            rows.append([items, items, picks])
    return table(
        ["items tried", *map(asked_text, rates)],
        ["---:", *["---"] * len(rates)],
        [[f"{first:,}" + (f" to {last:,}" if last > first else ""), *picks] for first, last, picks in rows],
    )


def fits(kind, asked, rate):
    """Whether a kind is shown for `rate`. A kind with a fixed rate is shown only if its rate is at most
    `rate`."""
    if asked is not None or kind == "fingerprints":
        return True
    return {"binary_fuse_8": 1 / 256, "binary_fuse_16": 1 / 65536}[kind] <= rate


def published(figures, items):
    rows = []
    for (kind, asked), (bits, rate, ns) in PUBLISHED.items():
        size, speed = figures.sizes.get((kind, asked, items)), figures.speeds.get((kind, asked, items), {})
        if size:
            rows.append(
                [
                    titled(kind),
                    f"{bits:.1f} bits at {100 * rate:g}%" + (f", {ns} ns" if ns else ""),
                    f"{size['bits']:.1f} bits at {rate_of(size)}, {span(speed.get('hit_ns'))} ns a hit, "
                    f"{span(speed.get('miss_ns'))} ns a miss",
                ]
            )
    return table(["", "published", "here"], ["---", "---", "---"], rows)


def bars(figures):
    """The two figures that have a target (bar), and whether they are below it."""
    speed = figures.speeds.get(("split_block_bloom", 0.01, 3000), {})
    line = figures.recalls.get(("split_block_bloom", 0.01, 3000), {})
    slower = (
        speed.get("hit_ns", [])
        if (least(speed.get("hit_ns")) or 0) >= (least(speed.get("miss_ns")) or 0)
        else speed["miss_ns"]
    )
    rows = []
    if speed:
        rows.append(
            [
                "a look-up in a `split_block_bloom` filter of 3,000 items, the hash included "
                f"(alone {span(figures.hash_ns)} ns)",
                "3 ns, given the hash",
                f"{span(slower)} ns",
                verdict(slower, BARS_NS["given the hash"]),
            ]
        )
    if line:
        micro = [ns / 1000 for ns in line["with_parse_ns"]]
        rows.append(
            [
                "2,000 ids of 16 bytes hashed and tested against a snapshot of 3,000 items, parsing it included",
                "25 µs",
                f"{span(micro)} µs",
                verdict(line["with_parse_ns"], BARS_NS["recall"]),
            ]
        )
    return table(["", "bar", "measured", ""], ["---", "---:", "---:", "---"], rows)


def verdict(samples, bar):
    return "met" if middle(samples) < bar else "met at the least" if least(samples) < bar else "missed"
