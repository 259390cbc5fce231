"""The lines of the program, collected: figures by kind, asked rate and number of items."""

import statistics

RATES = (0.01, 0.001, None)
SAMPLES = ("build_ns", "parse_ns", "hit_ns", "miss_ns", "ns", "with_parse_ns")


class Figures:
    """`sizes`, `speeds`, `recalls`: {(kind, asked rate or None, items): line}. Samples of times are those of
    all rounds."""

    def __init__(self, lines):
        self.sizes, self.speeds, self.recalls, self.small, self.auto, self.hash_ns = {}, {}, {}, {}, {}, []
        places = {"kind": self.sizes, "small": self.small, "speed": self.speeds, "recall": self.recalls}
        for line in lines:
            if line["what"] == "hash":
                self.hash_ns += line["ns"]
            elif line["what"] == "auto":
                self.auto[line["asked"], line["items"]] = line["kind"]
            else:
                key = (line["kind"], line["asked"], line["items"])
                known = places[line["what"]].setdefault(
                    key, {**line, **{name: [] for name in SAMPLES if name in line}}
                )
                for name in SAMPLES:
                    if name in line:
                        known[name] += line[name]

    def rows(self):
        """(kind, asked) in the program's order. Rates that are only for the comparison with published figures
        are left out."""
        return list(dict.fromkeys((kind, asked) for kind, asked, _ in self.sizes if asked in RATES))

    def items(self):
        return sorted({items for _, _, items in self.sizes})

    def small_items(self):
        return sorted({items for _, _, items in self.small})

    def rows_at(self, rate):
        """The rows asked for `rate`, and the rows of kinds with a fixed rate."""
        return [(kind, asked) for kind, asked in self.rows() if asked in (rate, None)]


def least(samples):
    return min(samples) if samples else None


def middle(samples):
    return statistics.median(samples) if samples else None
