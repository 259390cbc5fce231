"""The example tails of all four clients follow a daemon's snapshots and updates, over a real Kafka."""

import signal
import time

from client_example import FROM_THE_READER, tails_of
from load import one_by_one
from oracle import Oracle
from places import now_ms, wait_until
from seend import with_updates

STALE_MS = 5_000


def test_readers_that_slept_while_their_topic_was_made_anew_start_over(topics, daemon, topic_name, example):
    """The new topic has grown beyond their position, so no offset tells them. Snapshots that they miss stand
    before it."""
    topics.create(topic_name, partitions=1)
    seend = daemon(topic_name, with_updates(topic_name, refresh_s=1)).start()
    filters, users = f"{topic_name}-filters", [f"u{i}" for i in range(60)]

    def show(item):
        topics.produce(topic_name, one_by_one(Oracle(), [(user, item) for user in users]))

    def grow(records):
        topics.produce(filters, [(f"nobody-{i}", None) for i in range(records)])

    def is_published():
        return seend.partition_status()[0]["published_to"] == topics.total(topic_name)

    show("first")
    wait_until(is_published, "all users have a snapshot", 60)
    grow(500)
    tails = tails_of(example, topics, topic_name, STALE_MS)
    for client, tail in tails.items():
        fresh = FROM_THE_READER[client]
        wait_until(
            lambda t=tail, f=fresh: t.ask("u1", ["first", "x"]) == (["x"], f), f"{client} is fresh", 60
        )
    slept = now_ms()
    for tail in tails.values():
        tail.process.send_signal(signal.SIGSTOP)
    try:
        seend.stop()
        topics.delete(filters)
        topics.create(filters, partitions=1, cleanup_policy="compact")
        seend.start()
        show("second")
        wait_until(is_published, "all users are published again", 60)
        assert topics.total(filters) < 500
        grow(2_000)
        wait_until(lambda: now_ms() - slept > STALE_MS + 1_000, "what they knew is old")
    finally:
        for tail in tails.values():
            tail.process.send_signal(signal.SIGCONT)
    for client, tail in tails.items():
        fresh = FROM_THE_READER[client]
        wait_until(lambda t=tail, f=fresh: t.ask("u1", ["x"]) == (["x"], f), f"{client} is fresh again", 60)
    time.sleep(3)  # updates that snapshots hold are dropped with the beats, one each second
    for client, tail in tails.items():
        lacks = [user for user in users if tail.ask(user, ["first", "second"])[0]]
        assert lacks == [], f"{client} lacks what was shown to {len(lacks)} users: {tail.log()}"
