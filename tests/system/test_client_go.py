"""The examples of clients/go against a real daemon and a real Kafka."""

import functools
import json
import struct
import time

import pytest

from client_example import beat
from hashes import fingerprint, xxh64
from oracle import event
from places import now_ms, wait_until

CANDIDATES = ["a", "b", "c", "b", 7]


def asked(tail, user, also_seen=()):
    """(source, unseen items) of the candidates"""
    unseen, source = tail.ask(user, CANDIDATES, also_seen)
    return source, unseen


@pytest.fixture
def seend(topics, started, topic_name):
    """A daemon. Users u0 to u19, and one user in another alphabet, have each seen the items a and 7."""
    seend = started({"watermarks": {"topic": f"{topic_name}-watermarks"}})
    see(topics, topic_name, [*(f"u{i}" for i in range(20)), "用户/1"], ["a", 7])
    seend.wait_at_rest()
    return seend


def see(topics, topic, users, items):
    topics.produce(topic, [(user, event(user, item, now_ms())) for user in users for item in items])


def test_asking_over_http(seend, example):
    ask = functools.partial(asked, example("go", "ask", http=seend.url, timeout="5s"))
    assert ask("u1") == ("http", ["b", "c"])
    assert ask("用户/1", also_seen=["c"]) == ("http", ["b"])
    assert ask("never") == ("http", ["a", "b", "c", "7"])
    assert ask("") == ("request", ["a", "b", "c", "7"]), "what seend refuses is shown"
    seend.sigterm()
    seend.wait_exit()
    assert ask("u1", also_seen=["c"]) == ("request", ["a", "b", "7"]), "rather shown again than failing"


def test_tailing_the_topic(seend, example, topics, topic_name):
    marks = topics.create(f"{topic_name}-marks", 1, cleanup_policy="compact")

    flags = {
        "brokers": topics.bootstrap,
        "snapshots": f"{topic_name}-filters",
        "watermarks": marks,
        "http": seend.url,
        "timeout": "5s",
    }
    tail = functools.partial(asked, example("go", "tail", **flags, stale_max="3s"))
    small = functools.partial(asked, example("go", "tail", **flags, stale_max="1m", users_max=3))

    def until(user, answer, what):
        """Waits for this answer about the user. Watermarks come all the while."""
        wait_until(lambda: beat(topics, marks) and tail(user) == answer, what, every_s=0.2)

    until("u1", ("cache", ["b", "c"]), "it has read the topic")
    assert tail("用户/1", also_seen=["c"]) == ("cache", ["b"])

    see(topics, topic_name, ["u1"], ["b"])
    until("u1", ("cache", ["c"]), "what is new comes by itself")

    # The topic doesn't have this user. The client asks seend and keeps the answer.
    assert tail("never") == ("http", ["a", "b", "c", "7"])
    until("never", ("cache", ["a", "b", "c", "7"]), "it is kept")
    see(topics, topic_name, ["never"], ["c"])
    until("never", ("cache", ["a", "b", "7"]), "the topic's is later")

    # The small cache keeps 3 of the 21 users.
    beat(topics, marks)
    wait_until(lambda: small("u5") == ("cache", ["b", "c"]), "it has read the topic")
    first = [small(f"u{i}") for i in (6, 7, 8, 9)]
    assert sum(source == "http" for source, _ in first) >= 1 and all(
        unseen == ["b", "c"] for _, unseen in first
    )
    assert [small(f"u{i}") for i in (7, 8, 9)] == [("cache", ["b", "c"])] * 3

    # An erased user's record is a tombstone.
    assert seend.http.request("DELETE", "/v1/users/u1").status == 202
    wait_until(
        lambda: beat(topics, marks) and tail("u1")[1] == ["a", "b", "c", "7"], "u1 is forgotten", every_s=0.2
    )

    # Without heartbeats the cache is too old to use. New heartbeats make it usable again.
    wait_until(lambda: tail("u2") == ("http", ["b", "c"]), "it asks seend", timeout_s=10)
    seend.kill9()
    assert tail("u2", also_seen=["c"]) == ("stale cache", ["b"]), "what was known then is still right"
    assert tail("nobody", also_seen=["c"]) == ("request", ["a", "b", "7"])
    until("u2", ("cache", ["b", "c"]), "fresh again, without HTTP")


def test_a_quiet_stream_is_not_a_stale_one(seend, example, topics, topic_name):
    """Uses the daemon's own watermarks."""
    marks = f"{topic_name}-watermarks"
    flags = {"brokers": topics.bootstrap, "snapshots": f"{topic_name}-filters", "watermarks": marks}
    tail = example("go", "tail", **flags, http=seend.url, timeout="5s", stale_max="3s")
    tail = functools.partial(asked, tail)
    wait_until(lambda: tail("u1") == ("cache", ["b", "c"]), "it has read the topic", every_s=0.2)
    time.sleep(3.5)  # nothing happens for longer than an answer's age may be
    assert tail("u1") == ("cache", ["b", "c"]), "quiet, and up to date"
    seend.kill9()
    wait_until(lambda: tail("u1") == ("stale cache", ["b", "c"]), "heartbeats ended", timeout_s=10)


def update(partition, first, end, seen=()):
    """A record of `schemas/update.md`: what users have seen in the range [first, end) of offsets, (user, item)"""
    names = bytes([len("default")]) + b"default"
    fields = struct.pack("<iqqqqB", partition, 7, first, end, now_ms(), 1) + names
    head = b"SEEU" + struct.pack("<BBH", 1, 0, 12 + len(fields))
    if seen:
        fields += struct.pack("<HBBIII", 1, 0, 0, 0, len(seen), len(seen))
        fields += b"".join(struct.pack("<Q", xxh64(user.encode())) for user, _ in seen)
        fields += struct.pack(f"<{len(seen)}H", *[1] * len(seen))
        fields += b"".join(struct.pack("<I", fingerprint(item)) for _, item in seen)
    return head + struct.pack("<I", xxh64(head + fields) & 0xFFFFFFFF) + fields


def test_tailing_the_updates(example, topics, topic_name):
    """This test writes all three topics as a daemon does. The topic of snapshots is empty at first."""
    marks = topics.create(f"{topic_name}-marks", 1, cleanup_policy="compact")
    snapshots = topics.create(f"{topic_name}-filters", 2, cleanup_policy="compact")
    updates = topics.create(f"{topic_name}-updates", 2)
    end = [100, 100]

    def write(partition, first, seen=()):
        end[partition] = first + 10
        topics.produce(
            updates, [(None, update(partition, first, end[partition], seen), {"partition": partition})]
        )

    def beat_with(**members):
        """A beat of both partitions, and an update without sections"""
        watermark = {
            "version": 1,
            "partition_time_ms": now_ms(),
            "next_offset": 100,
            "lag_messages": 0,
            "unpublished_users": 0,
            "heartbeat_ms": now_ms(),
            "generation": 7,
            "published_to": 100,
            "snapshots_to": {"default": 0},
            "updates_from": 1,
            **members,
        }
        topics.produce(marks, [(str(p), json.dumps({**watermark, "partition": p})) for p in range(2)])
        for partition in range(2):
            write(partition, end[partition])
        return True

    # The beat says that the updates of offset 0 are in snapshots.
    topics.produce(updates, [(None, update(p, 0, 100, [("u1", "7")]), {"partition": p}) for p in range(2)])
    flags = {"brokers": topics.bootstrap, "snapshots": snapshots, "watermarks": marks, "updates": updates}
    tail = example("go", "tail", **flags, http="http://127.0.0.1:1", stale_max="5s")
    tail = functools.partial(asked, tail)

    def until(user, answer, what, **members):
        wait_until(lambda: beat_with(**members) and tail(user) == answer, what, every_s=0.2)

    until("u1", ("cache", ["a", "b", "c", "7"]), "it is fresh")
    write(0, end[0], [("u1", "b"), ("u2", "7")])
    until("u1", ("cache", ["a", "c", "7"]), "what is new comes by itself")
    assert tail("u2", also_seen=["a"])[1] == ["b", "c"]

    # The last record of the snapshots lies at offset 0 of each partition.
    topics.produce(snapshots, [("nobody", None, {"partition": p}) for p in range(2)])
    until(
        "u1",
        ("cache", ["a", "b", "c", "7"]),
        "snapshots have it",
        published_to=end[0],
        snapshots_to={"default": 1},
    )

    # Beyond a gap, the answers are as old as before it. HTTP doesn't answer here.
    behind_gap = end[1] + 5
    write(1, behind_gap, [("u1", "c")])
    until("u1", ("stale cache", ["a", "b", "7"]), "a gap")
    until("u1", ("cache", ["a", "b", "7"]), "the gap is in snapshots", published_to=behind_gap)
