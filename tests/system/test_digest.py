"""Digests: equal sets have equal digests, whatever events made them. One more item changes the digest."""

import json
import random

import pytest
from oracle import DAY_MS, event
from places import now_ms, wait_until
from seenctl_tool import by_partition, digest, run, run_json, sums

USERS = [f"u{i}" for i in range(150)]
NOON_MS = now_ms() // DAY_MS * DAY_MS - DAY_MS // 2  # noon of yesterday
FILTERS = [
    {"name": "default", "snapshot": None, "window_days": 30},
    {"name": "short", "snapshot": None, "window_days": 7},
]


def exposures(users=USERS, days=20):
    """Exposures of the last `days` days. Some are older than the window of the filter "short"."""
    chance = random.Random(7)
    return [
        (user, event(user, f"item-{chance.randrange(5_000)}", NOON_MS - chance.randrange(days * DAY_MS)))
        for user in users
        for _ in range(12)
    ]


@pytest.fixture
def reading(topics, daemon, topic_name):
    """reading(records, name, partitions) -> a daemon with its own topic, to which the records are sent."""

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
    http = ("--http", seend.url, "--wait", "--quiet")
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
    run("digest", "--dir", seend.store, status=1)  # the directory is in use
    seend.stop()
    stopped = run_json("digest", "--dir", seend.store, "--expect", expected)
    assert by_partition(stopped) == by_partition(running)
    assert [p["next_offset"] for p in stopped["partitions"]] == [
        p["next_offset"] for p in running["partitions"]
    ]
    # The digest left no trace: the daemon starts from the same state.
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
    answer = wait_until(
        lambda: (a := seend.http.get("/v1/digest?partition=2&as_of_ms=1763700000000")).status == 200 and a,
        "its digest",
    )
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
    assert "not a directory of backups" in run("digest", "--from", tmp_path, status=1)[1]
    (tmp_path / "bad.json").write_text("{}")
    assert "--expect" in run("digest", "--dir", tmp_path, "--expect", tmp_path / "bad.json", status=2)[1]


HISTORY_FILTERS = [
    {"name": "default", "snapshot": None, "window_days": 30, "served_ttl_s": 3600 * 24},
    {"name": "often", "snapshot": None, "exposures_min": 3, "cooldown_days": 5},
    {
        "name": "bought",
        "snapshot": None,
        "window_days": 7,
        "scenes": ["home_*"],
        "kinds": {"purchased": {"window_days": 30}},
    },
]


def write_history(folder, count):
    """Writes files of events of all kinds. Some are older than every window. None is near the edge of a
    window or of a day."""
    chance = random.Random(9)
    folder.mkdir()
    lines = []
    for i in range(count):
        at = NOON_MS - int(40 * DAY_MS * (1 - i / count)) // DAY_MS * DAY_MS + chance.randrange(DAY_MS // 4)
        kind = chance.choices(["exposed", "served", "removed", "purchased", "erased"], [90, 4, 4, 4, 0.2])[0]
        one = {
            "user_id": f"u{chance.randrange(80)}",
            "exposed_at": at,
            "kind": kind,
            "scene": chance.choice(["home_feed", "video"]),
        }
        lines.append(json.dumps(one if kind == "erased" else {**one, "item_id": f"n{chance.randrange(600)}"}))
    third = count // 3
    for number in range(3):
        part = lines[number * third : (number + 1) * third]
        (folder / f"{number}.jsonl").write_text("\n".join(part) + "\n")


def test_the_digest_of_an_expected_history_is_that_of_the_daemon_that_read_it(
    topics, started, topic_name, tmp_path
):
    seend = started({"filters": HISTORY_FILTERS}, partitions=3, retention_ms=-1)
    files, scratch = tmp_path / "history", tmp_path / "scratch"
    write_history(files, 12_000)
    scratch.mkdir()
    history = ("--config", seend.config_path, "--scratch", scratch, "--memory-mib", 64)
    before = run_json("digest", "--history", files, *history)
    assert all(f["items"] > 0 and f["removals"] > 0 for f in before["sum"]), before["sum"]
    assert sum(f["users_without_id"] for p in before["partitions"] for f in p["filters"]) > 0
    expected = tmp_path / "expected.json"
    expected.write_text(json.dumps(before))
    run("replay", files, "--config", seend.config_path, "--quiet")
    at_daemon = ("--http", seend.url, "--wait", "--quiet", "--expect", expected)
    assert "equal to" in run("digest", *at_daemon)[1]

    # The topic's records are a history, too. Only such a history needs a broker: with --partitions, files
    # need none.
    of_topic = run_json("digest", "--from-topic", topic_name, *history, "--expect", expected)
    assert by_partition(of_topic) == by_partition(before)
    elsewhere = run_json(
        "digest", *history, history=files, partitions=3, brokers="127.0.0.1:9", expect=expected
    )
    assert by_partition(elsewhere) == by_partition(before)

    # Another event in the files, or one more in the daemon, changes the digest.
    last = (files / "2.jsonl").read_text().splitlines()
    one = next(i for i in reversed(range(len(last))) if json.loads(last[i])["kind"] == "exposed")
    last[one] = event("u1", "another", NOON_MS, scene="home_feed")
    (files / "2.jsonl").write_text("\n".join(last) + "\n")
    _, said = run("digest", "--history", files, *history, "--quiet", "--expect", expected, status=1)
    assert "filter default" in said and "filter bought" in said
    topics.produce(topic_name, [("u1", event("u1", "one-more", NOON_MS))])
    assert "filter default" in run("digest", *at_daemon, status=1)[1]
    assert not list(scratch.iterdir()), "it leaves nothing behind"


def test_a_history_with_mistakes_is_named(daemon, topic_name, tmp_path):
    seend = daemon(topic_name, {"filters": HISTORY_FILTERS})
    seend.write_config()
    files = tmp_path / "history"
    write_history(files, 300)
    history = ("digest", "--history", files, "--quiet")
    assert "--config" in run(*history, status=2)[1]
    history = (*history, "--config", seend.config_path)
    assert "--dir" in run(*history, "--dir", tmp_path, status=2)[1]
    assert "--wait" in run(*history, "--wait", status=2)[1]
    assert "but not both" in run(*history, "--from-topic", topic_name, status=2)[1]
    assert "--partitions" in run(*history, status=1)[1], "the topic doesn't exist"
    run(*history, "--partitions", 2)
    with open(min(files.glob("*.jsonl")), "a") as file:
        file.write("nonsense\n" * 100)
    assert "not_json" in run(*history, "--partitions", 2, status=3)[1]
    assert "100 lines" in run(*history, "--partitions", 2, "--rejects-max", "90%")[1]
