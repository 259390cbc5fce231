"""A small run of `make bench-filters`. Its figures must be plausible, and its page and charts must show
them. Times aren't checked."""

import json
import math
import os
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from places import BUILD, SOURCE

pytestmark = pytest.mark.heavy
PROGRAM = BUILD / "bench_filters"
RUN = SOURCE / "benchmarks" / "filters" / "run.py"
# (least, most) bits per item at 3,000 items, from each structure's own arithmetic. L = log2(1 / measured
# rate).
BITS = {
    "bloom": lambda L: (1.44 * L, 1.46 * L),
    "split_block_bloom": lambda L: (1.5 * L, 1.8 * L),
    "split_block_bloom, power_of_two": lambda L: (1.5 * L, 2.0 * L),
    "counting_bloom": lambda L: (4 * 1.44 * L, 4 * 1.46 * L),
    # The size of an entry or of a remainder is a whole number of bits.
    "d_left": lambda L: (L + 5, (L + 7.2) / 0.85),
    "quotient": lambda L: (L + 2.25, L + 2.6),
    "cuckoo": lambda L: (L + 3, (L + 3.1) / 0.95),
    "indexed_cuckoo": lambda L: (L + 3 + 12, (L + 3.1 + 12) / 0.9),  # 12 bits number 3,000 items
    "binary_fuse_8": lambda L: (1.125 * 8, 1.3 * 8),
    "binary_fuse_16": lambda L: (1.125 * 16, 1.3 * 16),
    "day_chain": lambda L: (2 * L, 4 * L),
    "fingerprints": lambda L: (32 - math.log2(3000) + 1, 32 - math.log2(3000) + 2),
}
REMOVES = {"counting_bloom", "d_left", "quotient", "cuckoo", "fingerprints"}
CANT_MERGE = {"indexed_cuckoo", "binary_fuse_8", "binary_fuse_16"}


def smoke(run, folder, program, *more, check=True, environment=None):
    """A small run of a benchmark that writes its page and its figures into `folder`."""
    own = ["--docs", folder, "--figures", folder / "figures.json", "--program", program]
    command = [sys.executable, run, *own, *more]
    environment = {**os.environ, **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=check, env=environment)


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    smoke(RUN, folder, PROGRAM, "--smoke")
    return folder


@pytest.fixture(scope="module")
def figures(docs):
    return json.loads((docs / "figures.json").read_text())["lines"]


def sizes(figures, items):
    found = [line for line in figures if line["what"] == "kind" and line["items"] == items]
    assert found
    return found


def test_every_kind_is_measured(figures):
    assert {line["kind"] for line in sizes(figures, 3000)} == set(BITS)


def test_bits_an_item_are_what_the_structure_takes(figures):
    for line in sizes(figures, 3000):
        least, most = BITS[line["kind"]](math.log2(1 / line["rate"]))
        assert least * 0.98 <= line["bits"] <= most * 1.02, line


def test_the_measured_rate_is_the_one_asked(figures):
    for items in (10, 3000):
        for line in sizes(figures, items):
            asked = (
                line["asked"]
                or {"binary_fuse_8": 1 / 256, "binary_fuse_16": 1 / 65536, "fingerprints": items / 2**32}[
                    line["kind"]
                ]
            )
            assert line["rate"] <= 1.3 * asked, line
            if line["kind"] != "fingerprints" and line["rate"] >= asked / 1000:
                assert line["false_positives"] >= 100, line


def test_a_bloom_filter_is_its_own_measure(figures):
    for line in sizes(figures, 3000):
        assert 0.7 < line["bloom_ratio"] < 4.2, line
        if line["kind"] == "bloom":
            assert line["bloom_ratio"] == pytest.approx(1, abs=0.03), line


def test_cache_lines_are_those_of_the_layout(figures):
    lines = {
        line["kind"]: (line["lines_hit"], line["lines_miss"])
        for line in sizes(figures, 3000)
        if line["asked"] in (0.01, None)
    }
    assert lines["split_block_bloom"] == (1, 1)
    hit, miss = lines["bloom"]
    assert 6 < hit <= 7 and 1.8 < miss < 2.2
    hit, miss = lines["day_chain"]  # half of the blocks span two lines; a hit reads half of the days
    assert 40 < miss < 50 and miss * 0.45 < hit < miss * 0.6
    assert all(2.9 < count <= 3 for kind in ("binary_fuse_8", "binary_fuse_16") for count in lines[kind])


def test_what_a_kind_can_do_is_said(figures):
    assert {line["kind"] for line in figures if line.get("removes")} == REMOVES
    assert {line["kind"] for line in figures if line.get("merges") is False} == CANT_MERGE


def test_times_are_there(figures):
    speeds = [line for line in figures if line["what"] == "speed"]
    assert {line["kind"] for line in speeds} == set(BITS)
    assert all(ns > 0 for line in speeds for name in ("build_ns", "hit_ns", "miss_ns") for ns in line[name])


def test_the_page_has_the_figures(docs, figures):
    page = (docs / "FILTERS.md").read_text()
    assert page.startswith((SOURCE / "docs" / "FILTERS.md").read_text()[:200])
    for line in sizes(figures, 3000):
        assert f"| {line['bits']:.2f} |" in page, line
    assert "<!-- generated: all -->\n<!-- end -->" not in page


def test_charts_are_well_formed_and_hold_every_kind(docs):
    for name in ("bits.svg", "look-ups.svg"):
        root = xml.etree.ElementTree.parse(docs / "filters" / name).getroot()
        texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
        assert set(BITS) <= texts, name


@pytest.mark.parametrize(
    "argument,said",
    [("items=10,x", "items"), ("items=0", "items"), ("part=some", "part"), ("samples=0", "samples")],
)
def test_bad_arguments_are_named(argument, said):
    run = subprocess.run([PROGRAM, argument], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 1 and run.stderr.startswith(said + ":")


@pytest.mark.parametrize(
    "program, more, said",
    [(PROGRAM, ["--rounds", "0"], "1 to 100"), ("/nowhere", [], "make bench-filters builds it")],
)
def test_bad_options_are_named(program, more, said, tmp_path):
    run = smoke(RUN, tmp_path, program, *more, check=False)
    assert run.returncode == 2 and said in run.stderr
    assert not list(tmp_path.iterdir())
