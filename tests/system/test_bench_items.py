"""The programs for items of benchmarks/similar: the table of word counts, and the generator of texts."""

import gzip
import json
import subprocess
import sys

import pytest

from places import BUILD, SOURCE, free_port
from seenctl_tool import run as seenctl

IDF = BUILD / "seen_idf"
GENERATE = SOURCE / "benchmarks" / "similar" / "generate_items.py"


def generated(*options):
    done = subprocess.run(
        [sys.executable, GENERATE, *options], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def idf(*options, status=0):
    done = subprocess.run([IDF, *options], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stderr
    return done.stderr


def test_the_words_of_a_topic_are_counted_like_those_of_a_file(kafka, topics, topic_name, tmp_path):
    topics.create(topic_name, partitions=2)
    items, of_file, of_topic = tmp_path / "items.jsonl", tmp_path / "file.tsv", tmp_path / "topic.tsv"
    items.write_text(generated("--items", "300", "--sentences", "3"))
    into = ("--brokers", kafka.bootstrap, "--topic", topic_name)
    seenctl("generate", *into, "--from", items, "--key", "item_id", "--quiet")
    with items.open("a") as more:
        more.write("not an item\n")
    idf(items, "--out", of_file)
    idf(*into, "--out", of_topic)
    table = of_file.read_text()
    assert table == of_topic.read_text()
    assert table.startswith("# documents 300\n") and "\nthe\t" in table
    assert "\t1\n" not in table, "words of one item are left out"
    idf(items, "--words-max", "10", "--out", of_file)
    frequent = of_file.read_text().splitlines()
    assert len(frequent) == 12, "ten words, and what they are of"
    assert "\n".join(frequent[2:]) in table


def test_items_without_a_word_make_no_table(tmp_path):
    items = tmp_path / "none.jsonl"
    items.write_text('{"item_id":"n1","text":"!"}\n')
    assert "none of the 1 items has a word" in idf(items, "--out", tmp_path / "idf.tsv", status=1)


@pytest.mark.parametrize(
    "options",
    [
        ["--words-max", "0"],
        ["--documents-min", "0"],
        ["file", "--topic", "x"],
        ["file", "--json"],
        ["--no-such-option"],
        ["/nowhere/items.jsonl"],
    ],
)
def test_a_wrong_argument_ends_with_status_2(options):
    assert idf(*options, status=2)


def test_brokers_that_are_down_are_named():
    nobody = f"127.0.0.1:{free_port()}"
    assert nobody in idf("--brokers", nobody, status=1)


def test_a_configuration_without_items_is_refused(tmp_path):
    config = tmp_path / "off.json"
    config.write_text("{}")
    assert "--config" in idf("--config", config, status=2)


def test_the_example_is_what_the_generator_makes():
    with gzip.open(SOURCE / "examples" / "items.jsonl.gz", "rt", encoding="utf-8") as lines:
        example = lines.read()
    options = ("--items", "200", "--copies", "0.4", "--sentences", "8", "--seed", "7", "--prefix", "story-")
    assert generated(*options) == example


def test_generated_items_are_those_that_exposures_show():
    ids = {json.loads(line)["item_id"] for line in generated("--items", "500").splitlines()}
    assert len(ids) == 500
    shown = subprocess.run(
        [BUILD / "seenctl", "generate", "--stdout", "--quiet", "--events", "200", "--items", "500"],
        capture_output=True,
        timeout=60,
        check=True,
    ).stdout
    assert {json.loads(line)["item_id"] for line in shown.splitlines()} <= ids


def test_copies_are_as_many_as_asked_and_edited():
    lines = generated("--items", "1000", "--copies", "0.3", "--chinese", "0.5").splitlines()
    items = {item["item_id"]: item for item in map(json.loads, lines)}
    originals = [item for item in items.values() if "copy_of" not in item]
    copies = [item for item in items.values() if "copy_of" in item]
    assert 240 <= len(copies) <= 360
    assert len({item["text"] for item in originals}) == len(originals), "no two by chance"
    for copy in copies:
        original = items[copy["copy_of"]]
        assert "copy_of" not in original, "an original is no copy"
        assert copy["text"] != original["text"], "edited"
        assert (original["text"] in copy["text"]) == (copy["edit"] != "words")
    assert 60 <= sum(copy["edit"] == "verbatim" for copy in copies) <= 140


@pytest.mark.parametrize("options", [["--copies", "1"], ["--chinese", "2"], ["--sentences", "0"]])
def test_options_out_of_range_are_named(options):
    command = [sys.executable, GENERATE, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and options[0] in done.stderr
