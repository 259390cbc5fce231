"""Measures the program on Chinese texts: on labelled reposts in the other script, and on the pairs that are
similar by themselves.

**Truth.** A found pair is right if it is labelled, if it is labelled but for a text that is similar to the
original, or if its exact Jaccard similarity is at least 0.8 once OpenCC has simplified both texts: their
characters (t2s), or their words too (tw2sp). The similarity is that of truth.py: of runs of three characters.
The code that is measured never makes the truth, but its table of words comes from OpenCC too.

- Recall of a kind and strength: the labelled pairs that are found.
- Precision of a kind and strength: of the pairs found that have a repost, those that are right. The pairs of
  two originals would be the same each time.
- Natural pairs: all pairs of originals with a similarity of at least 0.8 and equal numbers. A run over the
  originals alone measures them. A score goes by similarity alone."""

import collections
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import sys
import tempfile

import descriptions
import measure
import opencc
import reposts
import truth

RUN = "minhash/sketch/3"  # the default method
# The patterns that docs/SIMILAR.md proposes.
BOILERPLATE = pathlib.Path(__file__).with_name("boilerplate_zh.txt")
CHOSEN = "trigrams"  # the bars are about this setting
RULES = {
    "version 2": "version 2",
    "now, numbers ignored": "trigrams, numbers ignored",
    "now": CHOSEN,
    "now, with additions": "trigrams, additions",
}
SETTINGS = {  # further arguments of bench_similar
    "version 2": ("text_version=2", "segmentation=trigrams"),
    "dictionary": ("segmentation=dictionary",),
    "dictionary_trigrams": ("segmentation=dictionary_trigrams",),
    "bigrams_trigrams": ("segmentation=bigrams_trigrams",),
    CHOSEN: ("segmentation=trigrams",),
    "trigrams, boilerplate": ("segmentation=trigrams", f"boilerplate={BOILERPLATE}"),
    "trigrams, additions": ("segmentation=trigrams", "containment_min_percent=90"),
    "trigrams, numbers ignored": ("segmentation=trigrams", "numbers=ignored", "tokens_min=0"),
}
DRAWN = ("dictionary", "dictionary_trigrams", "bigrams_trigrams", CHOSEN)
# Precision and recall, with edits of at most BAR_PERCENT.
BARS = {"long": (0.95, 0.90), "lines": (0.90, 0.75)}
BAR_PERCENT = 10
CHARACTERS = 500  # the speed is that of so many


def simplified(items, configuration):
    """The items with texts that OpenCC has converted."""
    texts = opencc.converted(
        [text for item in items for text in (item["title"], item["text"])], configuration
    )
    return [
        item | {"title": title, "text": text} for item, title, text in zip(items, texts[::2], texts[1::2])
    ]


def in_mainland_words(items):
    """The items in Simplified Chinese, those of Taiwan also with the mainland's words."""
    simple, words = simplified(items, "t2s"), simplified(items, "tw2sp")
    return [two if item["lang"] == "zh-TW" else one for item, one, two in zip(items, simple, words)]


class Truth:
    """What is similar among the originals, and a judge of pairs with reposts. `near` has all similar pairs,
    and `pairs` those with equal numbers."""

    CONVERSIONS = (lambda items: simplified(items, "t2s"), in_mainland_words)

    def __init__(self, originals):
        self.originals = [convert(originals) for convert in self.CONVERSIONS]
        self.near = {}
        for items in self.originals:
            for pair, similarity in truth.near_pairs(truth.shingle_sets(items)).items():
                self.near[pair] = max(similarity, self.near.get(pair, 0))
        self.pairs = truth.with_equal_numbers(self.near, originals)
        self.shingles = {}  # of originals, made when they are needed

    def judge(self, bed):
        """A function that says whether a pair of positions in the bed's items is right."""
        begin = len(self.originals[0])
        added = [convert(bed.items[begin:]) for convert in self.CONVERSIONS]
        of_added = {}

        def shingles(position):
            known, items, at = (
                (self.shingles, self.originals, position)
                if position < begin
                else (of_added, added, position - begin)
            )
            if position not in known:
                known[position] = [
                    frozenset(truth.shingles(truth.words(converted[at]))) for converted in items
                ]
            return known[position]

        original_of = {repost: original for original, repost in bed.pairs}

        def right(pair):
            one, other = sorted(original_of.get(position, position) for position in pair)
            if one == other or (one, other) in self.near:
                return True
            # A repost that says zh-TW may have the mainland's words.
            return any(
                truth.jaccard(a, b) >= truth.THRESHOLD for a, b in itertools.product(*map(shingles, pair))
            )

        return right


def found_by(program, items, folder, settings):
    """{setting: (a measure.Run, the line about the features)} of one run for each of `settings`. Failed: the
    program's error."""
    out = {}
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = pathlib.Path(place) / "items.jsonl"
        descriptions.write(path, items)
        for setting, arguments in settings.items():
            (run,), features = measure.runs(
                program, path, [RUN], pathlib.Path(place) / "index", arguments=arguments
            )
            out[setting] = (run, features)
    return out


def of_bed(bed, found, judge, originals):
    """The figures of one bed. `found`: pairs of positions."""
    with_repost = [pair for pair in found if pair[1] >= originals]
    right, labelled = sum(map(judge, with_repost)), sum(pair in bed.pairs for pair in with_repost)
    return {
        "kind": bed.kind,
        "percent": bed.percent,
        "reached": sum(bed.pairs.values()) / len(bed.pairs),
        "pairs": len(bed.pairs),
        "labelled": labelled,
        "found": len(with_repost),
        "right": right,
        **rates(len(with_repost), right, len(bed.pairs), labelled),
    }


def rates(found, right, pairs, labelled):
    """`precision` is None if nothing was found, `recall` if there are no true pairs."""
    return {"precision": right / found if found else None, "recall": labelled / pairs if pairs else None}


def natural(found, known, items):
    """Scores of the pairs of originals: of those with equal numbers, of these in two scripts, and by
    similarity alone."""

    def crossing(some):
        return {
            pair
            for pair in some
            if reposts.simplified(items[pair[0]]["lang"]) != reposts.simplified(items[pair[1]]["lang"])
        }

    return {
        "all": measure.score(found, known.pairs),
        "two scripts": measure.score(crossing(found), crossing(known.pairs)),
        "near": measure.score(found, known.near),
    }


def together(beds):
    """{pairs, labelled, found, right, precision, recall} of the beds that the bars are about."""
    judged = [bed for bed in beds if bed["kind"] not in reposts.APART and bed["percent"] <= BAR_PERCENT]
    sums = {name: sum(bed[name] for bed in judged) for name in ("pairs", "labelled", "found", "right")}
    return sums | rates(sums["found"], sums["right"], sums["pairs"], sums["labelled"])


@dataclasses.dataclass
class Plan:
    """What is made and run. `script` is "other" or "same"."""

    settings: dict = dataclasses.field(default_factory=lambda: SETTINGS)
    strengths: tuple = reposts.STRENGTHS
    sample: int = reposts.SAMPLE
    script: str = "other"
    seed: int = reposts.SEED


def of_texts(program, name, originals, plan, folder):
    """The figures of one file of texts: {"items", ..., "settings": {name: {"beds", "together", "natural",
    "features"}}}. The natural runs come first, one after another, because their times count."""
    known = Truth(originals)
    characters = sum(len(reposts.body(item)) for item in originals)
    say(
        f"Chinese, {name}: {len(originals):,} texts, {characters:,} characters, {len(known.pairs):,} natural pairs"
    )
    out = {
        "name": name,
        "items": len(originals),
        "characters": characters,
        "pairs": len(known.pairs),
        "langs": dict(collections.Counter(item["lang"] for item in originals)),
        "settings": {},
    }
    for setting, (run, features) in found_by(program, originals, folder, plan.settings).items():
        out["settings"][setting] = {
            "natural": natural(run.similar, known, originals),
            "features": features,
            "figures": run.figures,
            "microseconds": 1e6 * features["seconds"] * CHARACTERS / max(1, characters),
            "beds": [],
        }

    def measured(made, judge):
        found = found_by(program, made.items, folder, plan.settings)
        return {
            setting: of_bed(made, run.similar, judge, len(originals)) for setting, (run, _) in found.items()
        }

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = []
        for made in reposts.beds(originals, plan.script, plan.strengths, plan.seed, plan.sample):
            running.append(pool.submit(measured, made, known.judge(made)))
            if len(running) > 2 * os.cpu_count():  # so that few beds are in memory
                running[-2 * os.cpu_count()].result()
        for future in running:
            for setting, figures in future.result().items():
                out["settings"][setting]["beds"].append(figures)
    for of_setting in out["settings"].values():
        of_setting["together"] = together(of_setting["beds"])
    return out


def chinese_measure(program, paths, plan=None):
    """figures["chinese"]. `paths`: {"long": path, "lines": path}. NoOpenCC: opencc isn't there. Failed: the
    program's error."""
    plan = plan or Plan()
    chosen = CHOSEN if CHOSEN in plan.settings else list(plan.settings)[-1]
    with tempfile.TemporaryDirectory() as folder:
        texts = [
            of_texts(program, name, descriptions.read(path), plan, folder) for name, path in paths.items()
        ]
    return {
        "run": RUN,
        "script": plan.script,
        "arguments": {name: list(of) for name, of in plan.settings.items()},
        "chosen": chosen,
        "drawn": list(DRAWN),
        "percent": BAR_PERCENT,
        "bars": BARS,
        "strengths": list(plan.strengths),
        "texts": texts,
    }


def say(what):
    print(what, file=sys.stderr, flush=True)
