"""Runs the program over texts and compares its findings with the truth."""

import json
import subprocess
import tempfile

import descriptions
import truth

LIMIT_S = 1_800
LISTED_MAX = 32  # near items of a record
RUNS = (
    "both/sketch/3",
    "both/sketch/0",
    "both/off/3",
    "simhash/sketch/3",
    "simhash/off/3",
    "minhash/sketch/3",
    "minhash/off/3",
)
# Rules of reading texts that are compared, in one run with each: further arguments of the program.
NOW = "now"
RULES = {
    "version 2": ("text_version=2",),
    "now, numbers ignored": ("numbers=ignored", "tokens_min=0"),
    NOW: (),
}
RULES_RUN = "minhash/sketch/3"  # the default method
WORDS = (0, 5, 10, 15, 20, 30, 50, 100, 200)  # classes of length: each from its value to below the next value
SIMILARITIES = (0.8, 0.85, 0.9, 0.95, 1.0)


class Failed(Exception):
    """The message has the program's own error text."""


def lines_of(program, *arguments):
    with tempfile.TemporaryFile("w+") as out:
        run = subprocess.run(
            [program, *map(str, arguments)],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        if run.returncode != 0:
            raise Failed(
                f"{program} {' '.join(map(str, arguments))} ended with status {run.returncode}: {run.stderr.strip()}"
            )
        out.seek(0)
        for line in out:
            yield json.loads(line)


class Run:
    """The findings of one configuration, as pairs (i, j) with i < j."""

    def __init__(self, name):
        self.name, self.figures = name, {}
        self.similar, self.near, self.first = (
            set(),
            {},
            {},
        )  # near: {item: items}; first: {item: first of its group, if another}

    def take(self, line):
        item = line["item"]
        self.similar.update((min(item, other[0]), max(item, other[0])) for other in line["similar"])
        self.near[item] = [other[0] for other in line.get("near", ())]
        if line.get("group", item) != item:
            self.first[item] = line["group"]


def runs(program, items, names, folder, by="flow", arguments=()):
    """A Run for each of `names`, and the line about the features. `arguments`: further ones of the
    program."""
    out, features, current = [], None, Run(None)
    for line in lines_of(
        program,
        f"items={items}",
        "part=near",
        f"runs={','.join(names)}",
        f"folder={folder}",
        f"by={by}",
        *arguments,
    ):
        if line["what"] == "features":
            features = line
        elif line["what"] == "item":
            current.take(line)
        else:
            current.name, current.figures = line["run"], line
            out.append(current)
            current = Run(None)
    return out, features


def score(found, pairs):
    """{found, right, pairs, precision, recall}. `precision` is None if nothing was found, `recall` if there
    are no true pairs."""
    right = sum(pair in pairs for pair in found)
    return {
        "found": len(found),
        "right": right,
        "pairs": len(pairs),
        "precision": right / len(found) if found else None,
        "recall": right / len(pairs) if pairs else None,
    }


def by_class(found, pairs, class_of, classes):
    """A score for each class of pairs."""
    of_found, of_pairs = [set() for _ in range(classes)], [set() for _ in range(classes)]
    for pair in found:
        of_found[class_of(pair)].add(pair)
    for pair in pairs:
        of_pairs[class_of(pair)].add(pair)
    return [score(a, b) for a, b in zip(of_found, of_pairs)]


def by_words(found, pairs, counts):
    """Scores by the number of words in a pair's shorter text."""

    def class_of(pair):
        words = min(counts[pair[0]], counts[pair[1]])
        return max(i for i, least in enumerate(WORDS) if words >= least)

    return by_class(found, pairs, class_of, len(WORDS))


def by_similarity(found, pairs):
    """Scores of the true pairs by their similarity. Only the recall has a meaning."""

    def class_of(pair):
        return max(i for i, least in enumerate(SIMILARITIES) if pairs[pair] >= least)

    return by_class([pair for pair in found if pair in pairs], pairs, class_of, len(SIMILARITIES))


def like_their_first(run, sets):
    """How many items in another item's group are truly similar to its first item, by the similarity of the
    truth."""
    similarities = [truth.jaccard(sets[item], sets[first]) for item, first in run.first.items()]
    return {
        "grouped": len(similarities),
        "right": sum(value >= truth.THRESHOLD for value in similarities),
        "least": min(similarities, default=None),
    }


def neighbours(pairs):
    """{item: [(similarity, other), ...]}, nearest first. Equally near items are in the order of the file."""
    out = {}
    for (i, j), similarity in pairs.items():
        out.setdefault(i, []).append((-similarity, j))
        out.setdefault(j, []).append((-similarity, i))
    return {item: [(-less, other) for less, other in sorted(found)] for item, found in out.items()}


def lists(near, pairs, most=LISTED_MAX):
    """Of all near lists: {entries, right: entries that are true pairs, room: entries that perfect lists would
    have}."""
    return {
        "entries": sum(map(len, near.values())),
        "right": sum(
            (min(item, other), max(item, other)) in pairs for item, found in near.items() for other in found
        ),
        "room": sum(min(most, len(found)) for found in neighbours(pairs).values()),
    }


def sparse(pairs, most=LISTED_MAX):
    """The true pairs of items that have at most `most` near items. This leaves out large families of texts
    from one template."""
    sizes = {item: len(found) for item, found in neighbours(pairs).items()}
    return {(i, j) for i, j in pairs if sizes[i] <= most and sizes[j] <= most}


class Known:
    """A file of items with the truth about them: `near`, all similar pairs, and `pairs`, those of them that
    have equal numbers."""

    def __init__(self, name, path):
        self.name, self.path, self.items = name, path, descriptions.read(path)
        self.sets = truth.shingle_sets(self.items)
        self.near = truth.near_pairs(self.sets)
        self.pairs = truth.with_equal_numbers(self.near, self.items)


def distances(program, known, folder):
    pairs_path = folder / f"{known.name}.pairs"
    pairs_path.write_text("".join(f"{i} {j}\n" for i, j in known.pairs))
    return [
        line
        for line in lines_of(program, f"items={known.path}", "part=distances", f"pairs={pairs_path}")
        if line["what"] == "distances"
    ]


def rules(program, known, folder):
    """{rules: scores} of one run with each of RULES."""
    out = {}
    for name, arguments in RULES.items():
        (run,), _ = runs(program, known.path, [RULES_RUN], folder / "index-rules", arguments=arguments)
        out[name] = {
            "similar": score(run.similar, known.pairs),
            "near": score(run.similar, known.near),
            "figures": run.figures,
        }
    return out


def corpus(program, known, folder, names=RUNS, curves=True):
    """All measurements of one file of items. Without `curves`, the distances of all pairs and the other rules
    are left out."""
    pairs = known.pairs
    counts = [len(truth.words(item)) for item in known.items]
    found, features = runs(program, known.path, names, folder / f"index-{known.name}")
    few = sparse(pairs)
    families = [len(near) for near in neighbours(pairs).values()]
    out = {
        "name": known.name,
        "items": len(known.items),
        "pairs": len(pairs),
        "near": len(known.near),
        "sparse": len(few),
        "crowded_items": sum(near > LISTED_MAX for near in families),
        "most": max(families, default=0),
        "features": features,
        "distances": distances(program, known, folder) if curves else [],
        "rules": rules(program, known, folder) if curves else {},
        "runs": [],
    }
    for run in found:
        line = {
            "run": run.name,
            "figures": run.figures,
            "similar": score(run.similar, pairs),
            "near": score(run.similar, known.near),
            "lists": lists(run.near, pairs),
            "sparse_recall": score(run.similar & few, few)["recall"],
            "first": like_their_first(run, known.sets),
            "words": by_words(run.similar, pairs, counts),
            "similarities": by_similarity(run.similar, pairs),
        }
        out["runs"].append(line)
    return out
