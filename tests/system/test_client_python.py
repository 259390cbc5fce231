"""The examples of clients/python: answers from the topic, over HTTP, and from the request alone."""

import json
import sys
import time

import pytest

from client_example import CLIENTS, HOUR_MS, beat
from load import one_by_one
from oracle import Oracle
from places import now_ms, wait_until

sys.path.append(str(CLIENTS / "python" / "tests"))
import encoders


@pytest.fixture
def seen(topics, started, topic_name):
    """A daemon that has read the users' events and published their snapshots."""
    seend = started()
    topics.produce(
        topic_name, one_by_one(Oracle(), [("u", "shown"), ("u", 7), ("v", "other"), ("用户", "曝光")])
    )
    seend.wait_at_rest()
    return seend


def test_a_tail_of_the_topic_answers_and_falls_back_when_it_is_stale(seen, topics, topic_name, example):
    marks = topics.create(f"{topic_name}-watermarks", partitions=1, cleanup_policy="compact")

    beat(topics, marks, behind_ms=HOUR_MS)
    tail = example(
        *("python", "tail_snapshots"),
        brokers=topics.bootstrap,
        snapshots_topic=f"{topic_name}-filters",
        watermarks_topic=marks,
        http=seen.url,
        stale_ms_max=1_500,
        timeout_ms=2_000,
    )
    items = ["a", "shown", "b", "a", 7, "other", "9"]

    def when_from(source, *question):
        beats = (lambda: beat(topics, marks)) if source == "cache" else (lambda: None)
        return tail.until_from(source, *question, before=beats)

    assert when_from("cache", "u", items, ["9"]) == ["a", "b", "other"]
    assert when_from("cache", "用户", ["曝光", "other"]) == ["other"]

    # The topic doesn't have this user. The client asks over HTTP and keeps the answer.
    assert tail.ask("nobody", items) == (["a", "shown", "b", "7", "other", "9"], "http")
    assert when_from("cache", "nobody", items, ["b", 9]) == ["a", "shown", "7", "other"]

    # The client follows the topic.
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "b"), ("nobody", "a")]))
    wait_until(lambda: when_from("cache", "u", items) == ["a", "other", "9"], "the new snapshot is there")
    wait_until(
        lambda: when_from("cache", "nobody", ["a", "b"]) == ["b"],
        "the first snapshot replaces what was asked for",
    )

    # A tombstone makes the client forget the user.
    topics.produce(f"{topic_name}-filters", [("v", None)])
    wait_until(
        lambda: (beat(topics, marks), tail.ask("v", ["other"]))[1] == ([], "http"),
        "the tombstone is there: HTTP is asked",
    )

    # Without heartbeats the cache becomes stale, and the client asks over HTTP. Then the daemon stops, too.
    assert when_from("http", "u", items, ["9"]) == ["a", "other"]
    seen.stop()
    assert tail.ask("u", items, ["9"]) == (["a", "other"], "request"), (
        "what the stale snapshot has stays right"
    )
    assert tail.ask("w", items, ["9"]) == (["a", "shown", "b", "7", "other"], "request")


def test_asking_over_http_shows_rather_than_fails(seen, example):
    ask = example("python", "ask_over_http", http=seen.url, timeout_ms=300).ask
    items = ["a", "shown", "b", "a", 7]
    assert ask("u", items, ["b"]) == (["a"], "http")
    assert ask("用户", ["曝光", "x"]) == (["x"], "http")
    assert ask("nobody", items) == (["a", "shown", "b", "7"], "http")

    with seen.standing_still():
        began = time.monotonic()
        assert ask("u", items, ["b"]) == (["a", "shown", "7"], "request")
        assert time.monotonic() - began < 2, "no longer than its time-out"
    wait_until(lambda: ask("u", items, ["b"]) == (["a"], "http"), "it answers again")
    seen.stop()
    assert ask("u", items, ["b"]) == (["a", "shown", "7"], "request")


def test_a_tail_of_updates_knows_what_was_just_shown_and_says_when_it_does_not(topics, topic_name, example):
    """The test writes all three topics."""
    filters, updates = (
        topics.create(f"{topic_name}-{name}", partitions=2) for name in ("filters", "updates")
    )
    marks = topics.create(f"{topic_name}-marks", partitions=1, cleanup_policy="compact")
    old = encoders.snapshot_of("fingerprints", ["old"])
    topics.produce(filters, [("u", encoders.with_updates(old, input_offset=5), {"partition": 0})])

    def send_update(partition, *sections, begin=5, end=5):
        fields = dict(partition=partition, begin=begin, end=end, as_of_ms=now_ms())
        topics.produce(updates, [(None, encoders.update(*sections, **fields), {"partition": partition})])

    def send_beats(**members):
        values = [
            {
                **{"version": 1, "partition": partition, "partition_time_ms": 0, "next_offset": 5},
                **{"lag_messages": 0, "unpublished_users": 0, "heartbeat_ms": now_ms(), **members},
            }
            for partition in range(2)
        ]
        topics.produce(marks, [(str(value["partition"]), json.dumps(value)) for value in values])

    base = {"generation": 1, "published_to": 5, "updates_from": 1}
    before = encoders.section([(encoders.user_hash("u"), [encoders.print_of("b")])])
    send_update(0, before)  # at offset 0: the tail begins at updates_from
    send_beats(**base, snapshots_to={"default": 1})
    tail = example(
        *("python", "tail_snapshots"),
        brokers=topics.bootstrap,
        snapshots_topic=filters,
        watermarks_topic=marks,
        updates=updates,
        http="http://127.0.0.1:1",
        stale_ms_max=HOUR_MS,
        timeout_ms=100,
    )
    items = ["a", "old", "b", 7, "a"]
    assert tail.ask("u", items, [7]) == (["a", "b"], "request"), "partition 1 has no base"
    send_beats(**base, snapshots_to={"default": 0})

    def is_fresh():
        for partition in range(2):
            send_update(partition)
        return tail.ask("u", items, [7]) == (["a", "b"], "cache")

    wait_until(is_fresh, "both partitions are fresh")
    send_update(0, encoders.section([(encoders.user_hash("u"), [encoders.print_of("a")])]), end=6)
    wait_until(lambda: tail.ask("u", items) == (["b", "7"], "cache"), "what was shown is seen")
    topics.produce(filters, [("u", None, {"partition": 0})])
    wait_until(lambda: tail.ask("u", items) == (["old", "b", "7"], "cache"), "a tombstone drops no addition")
    send_beats()
    wait_until(
        lambda: tail.ask("u", items) == (["old", "b", "7"], "request"), "nobody writes updates any more"
    )
