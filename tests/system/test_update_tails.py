"""The example tails of all four clients follow a daemon's snapshots and updates, over a real Kafka."""

import signal

from client_example import FROM_THE_READER, tails_of
from load import one_by_one
from oracle import Oracle
from places import now_ms, wait_until
from seend import with_updates

STALE_MS = 5_000


def test_readers_that_slept_while_their_topic_was_made_anew_start_over(topics, daemon, topic_name, example):
    """The new topic has grown beyond their position, so no offset tells them."""
    topics.create(topic_name, partitions=1)
    seend = daemon(topic_name, with_updates(topic_name, refresh_s=1)).start()
    filters, users = f"{topic_name}-filters", [f"u{i}" for i in range(60)]

    def show(item):
        topics.produce(topic_name, one_by_one(Oracle(), [(user, item) for user in users]))

    def published(to):
        return topics.ends(filters)[0] >= to

    show("first")
    wait_until(lambda: published(len(users)), "all users have a snapshot", 60)
    tails = tails_of(example, topics, topic_name, STALE_MS)
    for client, tail in tails.items():
        fresh = FROM_THE_READER[client]
        wait_until(lambda t=tail, f=fresh: t.ask("u1", ["first", "x"]) == (["x"], f), f"{client} is fresh", 60)
    slept = now_ms()
    for tail in tails.values():
        tail.process.send_signal(signal.SIGSTOP)
    try:
        seend.stop()
        end = topics.ends(filters)[0]
        topics.delete(filters)
        topics.create(filters, partitions=1, cleanup_policy="compact")
        seend.start()
        show("second")
        wait_until(lambda: published(len(users)), "all users are published again", 60)
        for round_number in range(20):
            if published(2 * end):
                break
            show(f"later-{round_number}")
            more = topics.ends(filters)[0] + len(users)
            wait_until(lambda more=more: published(more), "the topic grows", 60)
        assert published(2 * end)
        wait_until(lambda: now_ms() - slept > STALE_MS + 1_000, "what they knew is old")
    finally:
        for tail in tails.values():
            tail.process.send_signal(signal.SIGCONT)
    for client, tail in tails.items():
        wait_until(
            lambda t=tail, f=FROM_THE_READER[client]: t.ask("u1", ["x"]) == (["x"], f),
            f"{client} is fresh again: {tail.log()}",
            60,
        )
        lacks = [user for user in users if tail.ask(user, ["first", "second"])[0]]
        assert lacks == [], f"{client} lacks what was shown to {len(lacks)} users: {tail.log()}"
