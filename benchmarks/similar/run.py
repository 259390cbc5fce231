#!/usr/bin/env python3
"""Measures the recall and precision of near-duplicates, and writes the tables and charts of docs/SIMILAR.md.

make bench-similar                          some minutes; texts from the machine's apt mirror
benchmarks/similar/run.py --only chinese    the Chinese part alone; the other figures stay
benchmarks/similar/run.py --report          writes the page again from the figures of the last run
benchmarks/similar/run.py --smoke --docs D --figures F    seconds, with the installed packages' descriptions;
a test, its
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

import chinese  # noqa: E402
import chinese_measure  # noqa: E402
import descriptions  # noqa: E402
import drawings  # noqa: E402
import measure  # noqa: E402
import opencc  # noqa: E402
import results  # noqa: E402
import tables  # noqa: E402
from pages import between_markers, wrapped  # noqa: E402

TITLES = {"long": "Long descriptions, English", "short": "One-line descriptions, English", "zh": "Chinese"}
BARS = {"long": (0.95, 0.90), "short": (0.90, 0.75), "zh": None}  # precision, recall of both/sketch/3
SMOKE_TEXTS = HERE / "sample_zh.jsonl"
SMOKE_SETTINGS = ("version 2", chinese_measure.CHOSEN, "trigrams, boilerplate")
PARTS = ("descriptions", "chinese")


def measured_descriptions(program, texts, smoke):
    """The figures of packages' descriptions. NoTexts, Failed: as their modules say."""
    paths = descriptions.installed(texts) if smoke else descriptions.prepared(texts)
    out = {"machine": results.machine(), "smoke": smoke, "corpora": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, path in paths.items():
            known = measure.Known(name, path)
            print(
                f"{name}: {len(known.items):,} texts, {len(known.pairs):,} pairs", file=sys.stderr, flush=True
            )
            corpus = measure.corpus(program, known, pathlib.Path(folder))
            out["corpora"].append(corpus | {"title": TITLES[name], "bars": BARS[name]})
    return out


def measured_chinese(program, texts, smoke, script):
    """{"chinese": figures}. The figures are None in a smoke run without opencc. NoTexts, NoOpenCC, Failed: as
    their modules say."""
    plan = chinese_measure.Plan(script=script)
    if not smoke:
        paths = chinese.prepared(texts)
    elif opencc.is_there():
        paths = sample(texts)
        plan.settings = {name: chinese_measure.SETTINGS[name] for name in SMOKE_SETTINGS}
        plan.strengths = (10,)
    else:
        print(
            "Chinese: left out, because opencc isn't there (apt-get install opencc)",
            file=sys.stderr,
            flush=True,
        )
        return {"chinese": None}
    return {"chinese": chinese_measure.chinese_measure(program, paths, plan) | {"machine": results.machine()}}


def sample(folder):
    """Like chinese.prepared(), but of the few texts of SMOKE_TEXTS, which this project wrote."""
    known = descriptions.read(SMOKE_TEXTS)
    paths = {}
    for name, wanted in (
        ("long", [item for item in known if item["text"]]),
        ("lines", [item for item in known if not item["text"]]),
    ):
        paths[name] = folder / f"sample-zh-{name}.jsonl"
        descriptions.write(paths[name], wanted)
    return paths


def parts_of_descriptions(figures, folder):
    """{marker: text} of the page. Draws the charts in `folder`."""
    corpora, machine = figures["corpora"], figures["machine"]
    english = [corpus for corpus in corpora if corpus["name"] != "zh"]
    (folder / "by-distance.svg").write_text(drawings.by_distance(corpora))
    (folder / "by-length.svg").write_text(drawings.by_length(english, measure.RUNS[0], "simhash/sketch/3"))
    return {
        "how-good": wrapped(tables.runs(corpora)),
        "lists": tables.lists(corpora),
        "cost": tables.cost(corpora),
        "similarities": tables.similarities(corpora),
        "how-good-machine": f"Texts of {machine['system']}'s mirror, {machine['day']}.",
    }


def parts_of_chinese(figures, folder):
    """{marker: text} of the page. Draws the chart in `folder`. `figures`: figures["chinese"]."""
    (folder / "chinese-by-strength.svg").write_text(drawings.chinese_by_strength(figures))
    return {
        "chinese": wrapped(tables.chinese(figures)),
        "chinese-kinds": wrapped(tables.chinese_kinds(figures)),
    }


def write(figures, docs):
    """Writes SIMILAR.md and similar/*.svg in `docs`. Begins with the page in `docs`, or else with that of the
    repository. Parts that weren't measured stay as they are."""
    folder = docs / "similar"
    folder.mkdir(parents=True, exist_ok=True)
    parts = parts_of_descriptions(figures, folder) if "corpora" in figures else {}
    if figures.get("chinese"):
        parts |= parts_of_chinese(figures["chinese"], folder)
    page_path = docs / "SIMILAR.md"
    page = (page_path if page_path.exists() else ROOT / "docs" / "SIMILAR.md").read_text()
    parts["rules"] = tables.rules(figures)
    for name, text in parts.items():
        page = between_markers(page, name, text)
    page_path.write_text(page)


def measured(arguments):
    """The figures of the parts that are asked for, and of the others from the last run."""
    known = arguments.figures.exists() and arguments.only
    figures = json.loads(arguments.figures.read_text()) if known else {}
    if arguments.only in (None, "descriptions"):
        figures |= measured_descriptions(arguments.program, arguments.texts, arguments.smoke)
    if arguments.only in (None, "chinese"):
        figures |= measured_chinese(arguments.program, arguments.texts, arguments.smoke, arguments.script)
    return figures


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "bench_similar")
    parser.add_argument(
        "--docs", type=pathlib.Path, default=ROOT / "docs", help="where SIMILAR.md and similar/ are written"
    )
    parser.add_argument(
        "--figures",
        type=pathlib.Path,
        default=ROOT / "build" / "bench" / "similar.json",
        help="where the raw figures are kept",
    )
    parser.add_argument(
        "--texts", type=pathlib.Path, default=descriptions.FOLDER, help="where the descriptions are kept"
    )
    parser.add_argument("--smoke", action="store_true", help="few texts, without a network")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    parser.add_argument(
        "--only", choices=PARTS, help="measure this part; the figures of the other stay as they were"
    )
    parser.add_argument(
        "--script",
        choices=("other", "same"),
        default="other",
        help="of Chinese reposts; other: than the original's",
    )
    arguments = parser.parse_args()
    if arguments.report:
        figures = json.loads(arguments.figures.read_text())
    else:
        if not arguments.program.exists():
            parser.error(f"{arguments.program} isn't there: make bench-similar builds it, or set --program")
        try:
            figures = measured(arguments)
        except (descriptions.NoTexts, measure.Failed, opencc.NoOpenCC) as error:
            sys.exit(str(error))
        arguments.figures.parent.mkdir(parents=True, exist_ok=True)
        arguments.figures.write_text(json.dumps(figures, indent=1))
    write(figures, arguments.docs)
    print(arguments.docs / "SIMILAR.md")


if __name__ == "__main__":
    main()
