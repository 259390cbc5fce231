"""Digests: equal sets have equal digests, however they came about; one item more has another."""

import json
import random

import pytest
from load import one_by_one
from oracle import DAY_MS, Oracle, event
from places import now_ms, wait_until
from seenctl_tool import by_partition, digest, run, run_json, sums

USERS = [f"u{i}" for i in range(150)]
NOON_MS = now_ms() // DAY_MS * DAY_MS - DAY_MS // 2  # yesterday
FILTERS = [{"name": "default", "snapshot": None, "window_days": 30},
           {"name": "short", "snapshot": None, "window_days": 7}]


def exposures(users=USERS, days=20):
    """Some are past the window of the filter "short"."""
    chance = random.Random(7)
    return [(user, event(user, f"item-{chance.randrange(5_000)}", NOON_MS - chance.randrange(days * DAY_MS)))
            for user in users for _ in range(12)]


@pytest.fixture
def reading(topics, daemon, topic_name):
    """reading(records, name, partitions) -> a daemon of a topic of its own that has read them."""
    def make(records, name, partitions=3, config=None):
        topic = topics.create(f"{topic_name}-{name}", partitions=partitions)
        seend = daemon(topic, {"filters": FILTERS, **(config or {})}, name=name).start()
        topics.produce(topic, records)
        return seend
    return make


def test_the_order_of_events_and_how_often_they_come_makes_no_difference(reading):
    records = exposures()
    once = digest(reading(records, "once"))
    shuffled = records + records
    random.Random(8).shuffle(shuffled)
    twice = digest(reading(shuffled, "twice"), "--as-of", once["as_of_ms"])
    assert by_partition(twice) == by_partition(once)
    assert sums(twice) == sums(once)
    totals = {f["filter"]: f for f in once["sum"]}
    assert totals["default"]["items"] > totals["short"]["items"] > 0, "what has left a window doesn't count"
    assert totals["default"]["users"] == len(USERS)


def test_the_sum_does_not_depend_on_the_number_of_partitions(reading):
    records = exposures()
    three = digest(reading(records, "three"))
    five = digest(reading(records, "five", partitions=5), "--as-of", three["as_of_ms"])
    assert sums(five) == sums(three)
    assert by_partition(five) != by_partition(three)


def test_one_item_more_is_found_and_the_partition_is_named(topics, reading, tmp_path):
    seend = reading(exposures(), "before")
    before = digest(seend)
    expected = tmp_path / "before.json"
    expected.write_text(json.dumps(before))
    http = ("--http", f"http://{seend.address}", "--wait", "--quiet")
    assert "equal to" in run("digest", *http, "--expect", expected)[1]
    topics.produce(seend.topic, [("u0", event("u0", "one-more", NOON_MS))])
    (partition,) = {p for p, _ in topics.produce(seend.topic, [("u0", event("u0", "one-more", NOON_MS))])}
    _, said = run("digest", *http, "--expect", expected, status=1)
    assert said.count("expected") == 2, said
    assert f"partition {partition}, filter default" in said and f"partition {partition}, filter short" in said


def test_removals_and_erasures_are_part_of_it(topics, reading):
    seend = reading(exposures(), "taken-back")
    before = digest(seend)
    assert seend.http.post("/v1/users/u1/removed", {"items": ["item-never-shown"]}).status == 202
    removed = digest(seend, "--as-of", before["as_of_ms"])
    assert sums(removed)["default"][1:3] == sums(before)["default"][1:3], "no item went"
    assert removed["sum"][0]["removals"] == 1
    assert removed["sum"][0]["digest"] != before["sum"][0]["digest"]
    assert seend.http.delete("/v1/users/u2").status == 202
    erased = digest(seend, "--as-of", before["as_of_ms"])
    assert erased["sum"][0]["without_id"] != before["sum"][0]["without_id"] == "0" * 32
    assert erased["sum"][0]["users_without_id"] == 1, "only the day of the erasure is left of u2"
    assert erased["sum"][0]["items"] < before["sum"][0]["items"]


def test_a_daemon_and_the_directory_it_leaves_agree(reading, tmp_path):
    seend = reading(exposures(), "left")
    running = digest(seend)
    expected = tmp_path / "running.json"
    expected.write_text(json.dumps(running))
    run("digest", "--dir", seend.store, status=1)  # in use
    seend.stop()
    stopped = run_json("digest", "--dir", seend.store, "--expect", expected)
    assert by_partition(stopped) == by_partition(running)
    assert [p["next_offset"] for p in stopped["partitions"]] == [p["next_offset"] for p in running["partitions"]]
    # It left no trace: the daemon starts on it as it was.
    seend.start()
    assert by_partition(digest(seend, "--as-of", running["as_of_ms"])) == by_partition(running)


def test_checkpoints_and_a_kill_make_no_difference(topics, reading):
    records = exposures()
    seend = reading(records[:900], "in-pieces")
    seend.wait_at_rest()
    topics.produce(seend.topic, records[900:])
    seend.kill9()
    seend.start()
    in_pieces = digest(seend)
    assert sums(digest(reading(records, "whole"), "--as-of", in_pieces["as_of_ms"])) == sums(in_pieces)


def test_one_digest_at_a_time(reading):
    seend = reading(exposures(), "one")
    seend.wait_at_rest()
    first = seend.http.get("/v1/digest?partition=0&as_of_ms=1763700000000")
    assert first.status == 202, first.body
    second = seend.http.get("/v1/digest?partition=1&as_of_ms=1763700000000")
    assert second.status in (202, 503)
    if second.status == 503:
        assert second.headers["Retry-After"]
    answer = wait_until(lambda: (a := seend.http.get("/v1/digest?partition=2&as_of_ms=1763700000000")).status == 200 and a,
                        "its digest")
    assert answer.json()["partition"] == 2 and answer.json()["as_of_ms"] == 1763700000000
    assert seend.http.get("/v1/digest?partition=77").status == 503
    assert seend.http.get("/v1/digest?partition=-1").status == 400
    assert seend.http.get("/v1/digest?partition=0&as_of=5").status == 400
    assert not list((seend.store / "incoming").glob("digest-*")), "its links are gone"


def test_wrong_arguments_are_named(tmp_path, reading):
    assert "--from" in run("digest", "--dir", tmp_path, "--from", tmp_path, status=2)[1]
    assert "--backup" in run("digest", "--backup", 1, status=2)[1]
    assert "no such directory" in run("digest", "--dir", tmp_path / "none", status=1)[1]
    assert "no partition's state" in run("digest", "--dir", tmp_path, status=1)[1]
    assert "no directory of backups" in run("digest", "--from", tmp_path, status=1)[1]
    (tmp_path / "bad.json").write_text("{}")
    assert "--expect" in run("digest", "--dir", tmp_path, "--expect", tmp_path / "bad.json", status=2)[1]
