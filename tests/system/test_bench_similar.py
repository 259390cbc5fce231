"""Near-duplicates among texts that other people wrote. benchmarks/similar/truth.py computes the truth
without seend's code."""

import concurrent.futures
import json
import os
import random
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from places import BUILD, SOURCE
from test_bench_filters import smoke

sys.path.insert(0, str(SOURCE / "benchmarks" / "similar"))
sys.path.insert(1, str(SOURCE / "benchmarks"))

import descriptions  # noqa: E402
import measure  # noqa: E402
import plain_simhash  # noqa: E402
import truth  # noqa: E402

pytestmark = pytest.mark.heavy
PROGRAM = BUILD / "bench_similar"
RUN = SOURCE / "benchmarks" / "similar" / "run.py"
TEXTS_MIN = 20_000
# Least precision and recall, with method: both and verify: sketch.
BARS = {"long": (0.95, 0.90), "short": (0.90, 0.75)}


@pytest.fixture(scope="module")
def texts():
    """{"long": path, "short": path, "zh": path}. The files stay in build/similar for other runs."""
    try:
        return descriptions.prepared()
    except descriptions.NoTexts as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no texts to judge by: {error}")


@pytest.fixture(scope="module")
def known(texts):
    """{"long": measure.Known, ...}"""
    return {name: measure.Known(name, texts[name]) for name in ("long", "short")}


@pytest.fixture(scope="module")
def corpora(known, tmp_path_factory):
    """{name: figures of benchmarks/similar/measure.py}. The programs run in parallel."""
    folder = tmp_path_factory.mktemp("corpora")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = {
            name: pool.submit(measure.corpus, PROGRAM, of, folder, ("both/sketch/3",), curves=False)
            for name, of in known.items()
        }
        return {name: future.result() for name, future in running.items()}


@pytest.fixture(params=["long", "short"])
def judged(request, corpora):
    return request.param, corpora[request.param]


def test_enough_is_found_and_what_is_found_is_right(judged):
    name, corpus = judged
    assert corpus["items"] >= TEXTS_MIN
    assert corpus["pairs"] >= 1_000, "too few true pairs to judge by"
    found = corpus["runs"][0]["similar"]
    precision, recall = BARS[name]
    assert found["precision"] >= precision and found["recall"] >= recall, corpus["runs"][0]


def test_near_lists_are_right_and_full(judged):
    name, corpus = judged
    near = corpus["runs"][0]["lists"]
    precision, recall = BARS[name]
    assert near["right"] >= precision * near["entries"] and near["right"] >= recall * near["room"], near


def test_items_of_a_group_are_like_its_first(judged):
    name, corpus = judged
    first = corpus["runs"][0]["first"]
    assert first["grouped"] > 1_000
    assert first["right"] >= BARS[name][0] * first["grouped"], first


@pytest.mark.parametrize("run", ["both/sketch/3", "simhash/off/3", "minhash/off/0"])
def test_lists_of_candidates_lead_to_all_that_comparing_every_pair_finds(run, known, tmp_path):
    path = tmp_path / "items.jsonl"
    descriptions.write(path, known["short"].items[:8_000])
    (by_lists,), _ = measure.runs(PROGRAM, path, [run], tmp_path / "index")
    (by_pairs,), _ = measure.runs(PROGRAM, path, [run], tmp_path / "index", by="all")
    assert by_lists.figures["lists_cut"] == by_lists.figures["candidates_cut"] == 0
    assert len(by_pairs.similar) > 20 and by_lists.similar == by_pairs.similar


def test_most_near_duplicates_are_beyond_three_bits(known):
    """This is why there are MinHash bands. Whatever code computes the SimHashes, their tables can find only
    few of the pairs."""
    some = random.Random(1).sample(sorted(known["long"].pairs), 2_000)
    for kind, counts in plain_simhash.distances(known["long"].items, some).items():
        assert sum(counts) == len(some)
        assert sum(counts[:4]) < 0.4 * len(some), kind


def test_the_truth_is_what_comparing_every_pair_gives(known):
    items = known["long"].items
    begin = random.Random(2).randrange(
        len(items) - 1_000
    )  # neighbours by name, because many of them are similar
    sets = truth.shingle_sets(items[begin : begin + 1_000])
    for threshold in (0.5, truth.THRESHOLD):
        pairs = truth.near_pairs(sets, threshold)
        assert len(pairs) > 50
        assert pairs == truth.all_pairs(sets, threshold)


@pytest.mark.parametrize(
    "a,b,similarity",
    [
        ("a b c d e f g h i j k", "a b c d e f g h i j k", 1.0),
        ("A b, c d e f g h i j k", "a B c (d) e f g h i j k", 1.0),
        ("a b c d e f g h i j k", "x b c d e f g h i j k", 8 / 10),  # exactly the threshold
        ("a b c d e f g h i j", "x b c d e f g h i j", 7 / 9),
        ("one two", "One: two!", 1.0),
        ("one two", "two one", 0.0),
        ("", "", 0.0),
    ],
)
def test_the_truth_on_texts_told_by_hand(a, b, similarity):
    sets = truth.shingle_sets([{"title": "", "text": text, "lang": "en"} for text in (a, b)])
    assert truth.jaccard(*sets) == pytest.approx(similarity)
    assert truth.near_pairs(sets) == ({(0, 1): similarity} if similarity >= truth.THRESHOLD else {})


def test_the_truth_of_numbers_is_that_all_are_equal():
    texts = ["1 2 3", "03 1, 2", "1 2", "1 2 3 3", "1,000", "1000", "v1 2 3 https://example.org/9"]
    items = [{"title": "", "text": text, "lang": "en"} for text in texts]
    pairs = dict.fromkeys([(0, 1), (0, 2), (0, 3), (4, 5), (0, 6)], 1.0)
    assert list(truth.with_equal_numbers(pairs, items)) == [(0, 1), (4, 5), (0, 6)]


def test_the_truth_on_random_sets():
    chance = random.Random(3)
    families = [frozenset(chance.sample(range(400), chance.randint(1, 60))) for _ in range(30)]
    sets = [
        frozenset(value for value in chance.choice(families) if chance.random() > 0.08)
        | frozenset(chance.sample(range(400), chance.randint(0, 3)))
        for _ in range(600)
    ]
    pairs = truth.near_pairs(sets)
    assert len(pairs) > 200 and pairs == truth.all_pairs(sets)


def test_texts_are_distinct(texts):
    for name, path in texts.items():
        items = descriptions.read(path)
        assert len({" ".join((item["title"] + " " + item["text"]).split()) for item in items}) == len(
            items
        ), name
        assert len({item["item_id"] for item in items}) == len(items), name


def test_a_machine_without_a_network_is_told_so(tmp_path, monkeypatch):
    said = "Err:1 http://mirror.example Could not resolve"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess((), 100, stdout=said))
    with pytest.raises(descriptions.NoTexts, match="is there a network.*\n.*Could not resolve"):
        descriptions.prepared(tmp_path)


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    smoke(RUN, folder, PROGRAM, "--smoke", "--texts", folder)
    return folder


def test_the_page_has_the_figures(docs):
    figures, page = json.loads((docs / "figures.json").read_text()), (docs / "SIMILAR.md").read_text()
    assert page.startswith((SOURCE / "docs" / "SIMILAR.md").read_text()[:100])
    for corpus in figures["corpora"]:
        assert f"{corpus['items']:,} distinct texts, {corpus['near']:,} similar pairs" in page
        assert list(corpus["rules"]) == list(measure.RULES)
        assert [run["run"] for run in corpus["runs"]] == list(measure.RUNS)
        for run in corpus["runs"]:
            assert f"| {run['similar']['found']:,} |" in page
    assert "<!-- generated: how-good -->\n<!-- end -->" not in page


def test_charts_are_well_formed(docs):
    for name in ("by-distance.svg", "by-length.svg"):
        root = xml.etree.ElementTree.parse(docs / "similar" / name).getroot()
        texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
        assert texts.count("precision") == texts.count("recall") >= 2, name


@pytest.mark.parametrize(
    "arguments,said",
    [
        (["part=some"], "part:"),
        (["runs=all/off/3"], "runs:"),
        (["runs=both/on/3"], "runs:"),
        (["runs=both/off/4"], "runs:"),
        (["runs=,", "by=all"], "runs:"),
        (["by=hand"], "by:"),
        (["by=all"], "items:"),
        ([], "folder:"),
        (["by=all", "similarity_min_percent=0"], "similarity_min_percent:"),
    ],
)
def test_bad_arguments_are_named(arguments, said):
    run = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 1 and run.stderr.startswith(said), run.stderr


def test_a_program_that_isnt_there_is_named(tmp_path):
    run = smoke(RUN, tmp_path, "/nowhere", check=False)
    assert run.returncode == 2 and "make bench-similar builds it" in run.stderr
    assert not list(tmp_path.iterdir())
