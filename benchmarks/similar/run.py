#!/usr/bin/env python3
"""Measures the recall and precision of near-duplicates, and writes the tables and charts of docs/SIMILAR.md.

    make bench-similar                          a few minutes; texts from the machine's apt mirror
    benchmarks/similar/run.py --report          writes the page again from the figures of the last run
    benchmarks/similar/run.py --smoke --docs D --figures F    seconds, with the installed packages' descriptions; a test, its
                                                figures mean nothing
"""

import argparse
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

import descriptions  # noqa: E402
import drawings  # noqa: E402
import measure  # noqa: E402
import plain_simhash  # noqa: E402
import results  # noqa: E402
import tables  # noqa: E402
from pages import between_markers  # noqa: E402

TITLES = {"long": "Long descriptions, English", "short": "One-line descriptions, English", "zh": "Chinese"}
BARS = {"long": (0.95, 0.90), "short": (0.90, 0.75), "zh": None}  # precision, recall of both/sketch/3


def measured(program, paths, smoke):
    out = {"machine": results.machine(), "smoke": smoke, "corpora": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, path in paths.items():
            known = measure.Known(name, path)
            print(f"{name}: {len(known.items):,} texts, {len(known.pairs):,} pairs", file=sys.stderr, flush=True)
            corpus = measure.corpus(program, known, pathlib.Path(folder))
            out["corpora"].append(corpus | {"title": TITLES[name], "bars": BARS[name]})
            if name == "long":
                out["plain"] = plain_simhash.distances(known.items, list(known.pairs))
    return out


def write(figures, docs):
    """Writes SIMILAR.md and similar/*.svg in `docs`. Begins with the page in `docs`, or else with that of the repository."""
    folder, corpora, machine = docs / "similar", figures["corpora"], figures["machine"]
    folder.mkdir(parents=True, exist_ok=True)
    english = [corpus for corpus in corpora if corpus["name"] != "zh"]
    (folder / "by-distance.svg").write_text(drawings.by_distance(corpora))
    (folder / "by-length.svg").write_text(drawings.by_length(english, measure.RUNS[0], "simhash/sketch/3"))
    parts = {
        "how-good": tables.runs(corpora),
        "lists": tables.lists(corpora),
        "cost": tables.cost(corpora),
        "similarities": tables.similarities(corpora),
        "plain-simhash": tables.plain(figures["plain"]),
        "how-good-machine": f"Texts of {machine['system']}'s mirror, {machine['day']}.",
    }
    page_path = docs / "SIMILAR.md"
    page = (page_path if page_path.exists() else ROOT / "docs" / "SIMILAR.md").read_text()
    for name, text in parts.items():
        page = between_markers(page, name, text)
    page_path.write_text(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "bench_similar")
    parser.add_argument("--docs", type=pathlib.Path, default=ROOT / "docs", help="where SIMILAR.md and similar/ are written")
    parser.add_argument("--figures", type=pathlib.Path, default=ROOT / "build" / "bench" / "similar.json", help="where the raw figures are kept")
    parser.add_argument("--texts", type=pathlib.Path, default=descriptions.FOLDER, help="where the descriptions are kept")
    parser.add_argument("--smoke", action="store_true", help="few texts, without a network")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    if arguments.report:
        figures = json.loads(arguments.figures.read_text())
    else:
        if not arguments.program.exists():
            parser.error(f"{arguments.program} isn't there: make bench-similar builds it, or set --program")
        try:
            paths = descriptions.installed(arguments.texts) if arguments.smoke else descriptions.prepared(arguments.texts)
            figures = measured(arguments.program, paths, arguments.smoke)
        except (descriptions.NoTexts, measure.Failed) as error:
            sys.exit(str(error))
        arguments.figures.parent.mkdir(parents=True, exist_ok=True)
        arguments.figures.write_text(json.dumps(figures, indent=1))
    write(figures, arguments.docs)
    print(arguments.docs / "SIMILAR.md")


if __name__ == "__main__":
    main()
