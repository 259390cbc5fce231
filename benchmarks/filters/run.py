#!/usr/bin/env python3
"""Measures every kind of filter and writes the tables and charts of docs/FILTERS.md.

make bench-filters                          a few minutes benchmarks/filters/run.py --report          writes
the page again from the figures of the last run benchmarks/filters/run.py --smoke --docs D --figures F
seconds, into other places; a test, its figures mean nothing"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

import drawings  # noqa: E402
import results  # noqa: E402
import tables  # noqa: E402
from figures import Figures  # noqa: E402
from pages import between_markers  # noqa: E402

SMOKE = ["items=10,3000", "false_positives=400", "samples=1"]
LIMIT_S = 1_200  # for each run of the program


def lines_of(program, *arguments):
    run = subprocess.run(
        [program, *arguments], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False
    )
    if run.returncode != 0:
        sys.exit(f"{program} {' '.join(arguments)} ended with status {run.returncode}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def measure(program, rounds, extra):
    lines = lines_of(program, "part=sizes", *extra)
    for number in range(rounds):
        print(f"times, round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        lines += lines_of(program, "part=speed", *extra)
    return {"machine": results.machine(), "rounds": rounds, "lines": lines}


def write(measured, docs):
    """Writes FILTERS.md and filters/*.svg in `docs`. Begins with the page in `docs`, or else with that of the
    repository."""
    figures, folder = Figures(measured["lines"]), docs / "filters"
    folder.mkdir(parents=True, exist_ok=True)
    counts = figures.items()
    usual, most = (3000 if 3000 in counts else counts[0]), counts[-1]
    (folder / "bits.svg").write_text(drawings.bits_against_rate(figures, list(dict.fromkeys((usual, most)))))
    (folder / "look-ups.svg").write_text(drawings.look_up_times(figures, usual, most))
    machine = measured["machine"]
    parts = {
        "beside-the-papers": tables.beside_the_papers(figures, usual),
        "bars": tables.bars(figures),
        "small": tables.small(figures),
        "auto": tables.auto(figures),
        "published": tables.published(figures, most),
        "machine": f"{machine['cpu']}, {machine['cores']} cores, shared with other work, {machine['system']}, Linux {machine['kernel']}, "
        f"{machine['day']}; {measured['rounds']} rounds.",
        "all": "\n\n".join(
            f"### {items:,} items\n\n{tables.all_of(figures, items)}"
            for items in counts
            if items in tables.IN_ALL
        ),
    }
    page_path = docs / "FILTERS.md"
    page = (page_path if page_path.exists() else ROOT / "docs" / "FILTERS.md").read_text()
    for name, text in parts.items():
        page = between_markers(page, name, text)
    page_path.write_text(page)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "bench_filters")
    parser.add_argument(
        "--docs", type=pathlib.Path, default=ROOT / "docs", help="where FILTERS.md and filters/ are written"
    )
    parser.add_argument(
        "--figures",
        type=pathlib.Path,
        default=ROOT / "build" / "bench" / "filters.json",
        help="where the raw figures are kept",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="how often times are measured, 1 to 100; their least and median are shown",
    )
    parser.add_argument("--smoke", action="store_true", help="few items, one round")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    parser.add_argument(
        "extra", nargs="*", metavar="key=value", help="for the program, as it says at its top"
    )
    arguments = parser.parse_args()
    if not 1 <= arguments.rounds <= 100:
        parser.error(f"--rounds {arguments.rounds}: it is 1 to 100")
    kept = arguments.figures
    if arguments.report:
        measured = json.loads(kept.read_text())
    else:
        if not arguments.program.exists():
            parser.error(f"{arguments.program} isn't there: make bench-filters builds it, or set --program")
        extra = (SMOKE if arguments.smoke else []) + arguments.extra
        measured = measure(arguments.program, 1 if arguments.smoke else arguments.rounds, extra)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(
            "{"
            + ",\n".join(
                [
                    f'"machine": {json.dumps(measured["machine"])}',
                    f'"rounds": {measured["rounds"]}',
                    '"lines": [\n' + ",\n".join(map(json.dumps, measured["lines"])) + "\n]",
                ]
            )
            + "}\n"
        )
    write(measured, arguments.docs)
    print(arguments.docs / "FILTERS.md")


if __name__ == "__main__":
    main()
