"""kill -9 at any moment loses nothing, counts nothing twice and leaves no snapshot unpublished."""

import time

import pytest

from load import Load
from places import wait_until
from seend import one_filter

EVENTS, KILLS, PARTITIONS = 1_000_000, 20, 4


@pytest.mark.heavy
def test_twenty_kills_during_a_million_events_lose_nothing(topics, daemon, topic_name, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    load = Load(chance, users=5_000)
    seend = daemon(
        topic_name,
        one_filter(topic_name, debounce_ms=1000, items_max=100_000),
    )  # the busiest user sees over 10,000 items
    starts_s = []
    for _ in range(KILLS):
        producing = load.send_aside(topics, topic_name, EVENTS // KILLS, rate=40_000)
        start = time.monotonic()
        if chance.random() < 0.3:  # kill it while it opens its stores
            seend.start(ready=False)
            time.sleep(chance.random() * 0.6)
        else:
            seend.start(ready=False)
            wait_until(lambda: len(seend.partition_status()) == PARTITIONS, "partitions are assigned")
            starts_s.append(time.monotonic() - start)
            time.sleep(chance.random() * 2.0)  # between checkpoints, during one, or while it publishes
        seend.kill9()
        producing.join()
    seend.start(timeout_s=60)
    ends = seend.wait_at_rest(timeout_s=120)
    assert sum(ends.values()) == EVENTS
    load.oracle.check_http(seend, strangers=5)
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
    print(f"start to partitions: {min(starts_s):.2f} to {max(starts_s):.2f} s")


@pytest.mark.heavy
def test_it_is_ready_within_seconds_of_a_kill(topics, daemon, topic_name, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    load = Load(chance, users=500)
    load.send(topics, topic_name, 20_000)
    seend = daemon(topic_name).start()
    seend.wait_at_rest()
    seend.kill9()
    start = time.monotonic()
    seend.start()
    took_s = time.monotonic() - start
    print(f"kill -9 to ready: {took_s:.2f} s")
    assert took_s < 6, "static membership keeps the partitions at home"  # 2 s on an idle machine
    load.oracle.check_http(seend, users=load.oracle.users()[:50])


def test_a_snapshot_that_was_not_acknowledged_is_published_after_the_kill(topics, daemon, topic_name, chance):
    topics.create(topic_name)
    load = Load(chance, users=300)
    slow = one_filter(topic_name, debounce_ms=30_000)
    seend = daemon(topic_name, slow).start()
    load.send(topics, topic_name, 500)  # leading edge of the debounce: published at once
    seend.wait_at_rest()
    load.send(topics, topic_name, 3_000)  # trailing edge: published half a minute later
    ends = seend.wait_caught_up()
    wait_until(
        lambda: all(s["checkpoint_offset"] >= ends[p] for p, s in seend.partition_status().items()),
        "a checkpoint holds all, with marks",
    )
    assert sum(s["marks_outstanding"] for s in seend.partition_status().values()) > 0
    seend.kill9()
    seend.config["filters"][0]["snapshot"]["debounce_ms"] = 200
    seend.start()
    seend.wait_at_rest()
    load.oracle.check_published(topics, f"{topic_name}-filters", 2)
