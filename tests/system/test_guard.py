"""The daemon replaces an old snapshot that somebody else wrote over a newer one. It also refills a snapshot
topic that lost its end."""

import time

import pytest
from load import one_by_one
from oracle import Oracle
from places import now_ms, wait_until
from seend import wait_streamed

USERS = [f"user-{i}" for i in range(60)]
PARTITIONS = 2


def put(topics, topic, records):
    """Writes records as another daemon would, with the same keys and partitions."""
    topics.produce(topic, records.items(), "murmur2")


def send(topics, topic, oracle, item):
    topics.produce(topic, one_by_one(oracle, [(user, item) for user in USERS], now_ms()))


def test_old_snapshots_that_somebody_else_writes_are_replaced(topics, started, topic_name):
    published = f"{topic_name}-filters"
    seend = started(partitions=PARTITIONS)
    oracle = Oracle()
    send(topics, topic_name, oracle, "first")
    seend.wait_at_rest()
    old = topics.newest(published)
    assert set(old) == set(USERS)
    send(topics, topic_name, oracle, "second")
    seend.wait_at_rest()
    assert topics.newest(published) != old
    time.sleep(3)  # the guard has read the ends: later records come after the daemon's own last one
    put(topics, published, {user: old[user] for user in USERS[:40]})
    wait_until(lambda: seend.metric_sum("seen_snapshots_foreign_total") >= 40, "they are noticed")
    seend.wait_at_rest()
    oracle.check_published(topics, published, PARTITIONS)
    # The daemon also publishes while somebody else writes, so foreign records come between its own.
    put(topics, published, old)
    send(topics, topic_name, oracle, "third")
    seend.wait_at_rest()
    wait_until(
        lambda: seend.metric_sum("seen_snapshots_foreign_total") >= 40 + len(USERS), "they are noticed"
    )
    seend.wait_at_rest()
    oracle.check_published(topics, published, PARTITIONS)
    assert "another process wrote into the snapshot topic" in seend.log()


def test_of_a_user_who_was_erased_an_old_snapshot_does_not_stay(topics, started, topic_name):
    published = f"{topic_name}-filters"
    seend = started(partitions=PARTITIONS)
    send(topics, topic_name, Oracle(), "first")
    seend.wait_at_rest()
    old = topics.newest(published)
    assert seend.http.request("DELETE", "/v1/users/user-7").status == 202
    wait_until(lambda: not topics.newest(published)["user-7"], "a tombstone")
    seend.wait_at_rest()
    time.sleep(3)
    put(topics, published, {"user-7": old["user-7"]})
    wait_until(lambda: seend.metric_sum("seen_snapshots_foreign_total") >= 1, "it is noticed")
    wait_until(lambda: not topics.newest(published)["user-7"], "a tombstone again")


def test_a_snapshot_topic_that_was_made_anew_is_filled_again(topics, started, topic_name):
    published = f"{topic_name}-filters"
    seend = started(partitions=PARTITIONS)
    oracle = Oracle()
    for item in ("first", "second", "third"):
        send(topics, topic_name, oracle, item)
        seend.wait_at_rest()
    time.sleep(3)
    topics.delete(published)
    topics.create(published, partitions=PARTITIONS, **{"cleanup.policy": "compact"})
    wait_until(lambda: set(topics.newest(published)) == set(USERS), "everybody is published again", 60)
    oracle.check_published(topics, published, PARTITIONS)
    assert seend.metric_sum("seen_snapshot_partitions_cut_total") == PARTITIONS


@pytest.mark.parametrize("ended_by", ["sigterm", "kill -9", "moved"])
def test_a_snapshot_topic_that_was_made_anew_while_no_daemon_ran_is_filled_again(
    topics, daemon, topic_name, ended_by
):
    topics.create(topic_name, partitions=PARTITIONS)
    published = f"{topic_name}-filters"
    config = {
        "kafka": {"instance_id": "one"},  # "another" takes its place at once
        "state": {"topic": f"{topic_name}-state", "run_every_s": 1},
    }
    seend = daemon(topic_name, config).start()
    oracle = Oracle()
    for item in ("first", "second", "third"):
        send(topics, topic_name, oracle, item)
        seend.wait_at_rest()
    time.sleep(5)  # the guard has read the ends, and a checkpoint has stored them
    if ended_by == "moved":
        wait_streamed([seend], topics.end_offsets(topic_name))
        time.sleep(3)
    seend.kill9() if ended_by == "kill -9" else seend.stop()
    topics.delete(published)
    topics.create(published, partitions=PARTITIONS, **{"cleanup.policy": "compact"})
    if ended_by == "moved":
        seend = daemon(topic_name, config, name="another")
    seend.start()
    wait_until(lambda: set(topics.newest(published)) == set(USERS), "everybody is published again", 60)
    oracle.check_published(topics, published, PARTITIONS)
    assert seend.metric_sum("seen_snapshot_partitions_cut_total") == PARTITIONS
    # Once: the state knows the new end.
    seend.wait_at_rest()
    time.sleep(5)
    seend.stop()
    seend.start()
    time.sleep(6)
    assert seend.metric_sum("seen_snapshot_partitions_cut_total") == 0
