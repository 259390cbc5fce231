"""A daemon is paused for longer than its session. When it continues, it publishes nothing old."""

import collections
import os
import time

from load import one_by_one
from oracle import Oracle
from places import now_ms, wait_until
from seend import one_filter
from snapshot_reader import read_snapshot

SESSION_S = 6  # the shortest session that brokers accept
STOPS = int(os.environ.get("SEEN_STOPS", 1))  # a person may ask for more
CLIENT = {
    "session.timeout.ms": str(SESSION_S * 1000),
    "heartbeat.interval.ms": "1000",
    "topic.metadata.refresh.interval.ms": "2000",
}
USERS = [f"user-{i}" for i in range(400)]


def owned(seend):
    return set(seend.partition_status())


def test_no_stale_snapshot_follows_a_newer_one_after_a_stop_longer_than_the_session(
    topics, daemon, topic_name
):
    topics.create(topic_name)
    config = {
        "kafka": {"client": CLIENT},
        **one_filter(topic_name, debounce_ms=1000),
    }
    first = daemon(topic_name, config, "first").start()
    oracle = Oracle()

    def send(round_number):
        topics.produce(
            topic_name, one_by_one(oracle, [(user, f"item-{round_number}") for user in USERS], now_ms())
        )

    send(0)
    first.wait_at_rest()
    second = daemon(topic_name, config, "second").start(
        "--rebuild", ready=False
    )  # its state comes from the topic
    wait_until(lambda: len(owned(first)) == 1 and len(owned(second)) == 1, "each owns a partition", 30)
    rounds = iter(range(1, 100_000))
    for _ in range(STOPS):
        wait_until(lambda: len(owned(first)) == 1 and len(owned(second)) == 1, "each owns a partition", 60)
        # When the first daemon is paused, the last snapshots are due, in flight, or in the producer's queue.
        until = time.monotonic() + 3
        while time.monotonic() < until:
            send(next(rounds))
        send(next(rounds))
        with first.standing_still():
            wait_until(lambda: len(owned(second)) == 2, "the second one takes over", SESSION_S + 30)
            send(next(rounds))
            second.wait_at_rest()
        time.sleep(SESSION_S + 4)  # long enough for snapshots that the first daemon might still send

    items = collections.defaultdict(list)
    for message in topics.read_all(f"{topic_name}-filters"):
        items[message.key().decode()].append(read_snapshot(message.value()).item_count)
    assert set(items) == set(USERS)
    shrunk = {user: counts for user, counts in items.items() if counts != sorted(counts)}
    assert not shrunk, f"{len(shrunk)} of {len(USERS)} users, e.g. {next(iter(shrunk.items()))}"
    oracle.check_published(topics, f"{topic_name}-filters", 2)
