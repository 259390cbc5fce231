"""Snapshot topics: seend refuses those into which another group publishes and those with another partition
count. In topics with a small max.message.bytes, batches stay below it, and a large snapshot delays no other
user."""

import pytest
from confluent_kafka.admin import RESOURCE_TOPIC, ConfigResource

from load import one_by_one
from oracle import Oracle
from places import now_ms, wait_until
from snapshot_reader import read_snapshot


def own_topics(topic):
    return {"watermarks": {"topic": f"{topic}-watermarks"}}


@pytest.fixture
def first(topics, daemon, topic_name):
    """A daemon that publishes."""
    topics.create(topic_name)
    first = daemon(topic_name, own_topics(topic_name), name="first").start()
    wait_until(lambda: topics.read_all(f"{topic_name}-watermarks"), "the first one publishes")
    return first


@pytest.fixture
def second(first, daemon, topic_name):
    """A daemon of another group, with the same topics. It doesn't run."""
    kafka = {"group_id": f"{topic_name}-second"}
    return daemon(topic_name, {**own_topics(topic_name), "kafka": kafka}, name="second")


def test_a_second_group_is_refused_while_the_first_one_publishes(topics, first, second, topic_name):
    said = second.refuses()
    assert f"{topic_name}-group" in said and f"{topic_name}-second" in said and "--share-topics" in said
    topics.produce(topic_name, one_by_one(Oracle(), [("u1", "a")]))
    first.wait_at_rest()
    assert first.unseen("u1", ["a", "b"]) == ["b"], "the first one goes on"
    first.stop()
    # After the first group has stopped, the second may publish.
    second.start()
    second.wait_at_rest()
    assert second.unseen("u1", ["a", "b"]) == ["b"]


def test_two_groups_share_topics_where_an_operator_says_so(second):
    second.start("--share-topics")


def test_a_snapshot_topic_of_another_partition_count_is_refused(topics, daemon, topic_name):
    topics.create(topic_name, partitions=2)
    topics.create(f"{topic_name}-filters", partitions=3)
    said = daemon(topic_name).refuses()
    assert f"{topic_name}-filters" in said and "3 partitions" in said and "Remedy" in said


def raise_limit(topics, topic, limit):
    changed = ConfigResource(RESOURCE_TOPIC, topic)
    for name, value in (("cleanup.policy", "compact"), ("max.message.bytes", limit)):
        changed.set_config(name, str(value))
    for future in topics.admin().alter_configs([changed]).values():
        future.result(30)


def test_three_thousand_users_are_published_in_batches_that_the_topic_takes(topics, daemon, topic_name):
    topics.create(topic_name)
    published = topics.create(f"{topic_name}-filters", cleanup_policy="compact", max_message_bytes=5_000)
    seend = daemon(topic_name).start()
    oracle, now = Oracle(), now_ms()
    pairs = [(f"user-{u}", f"item-{u}-{i}") for u in range(3_000) for i in range(3)]
    topics.produce(topic_name, one_by_one(oracle, pairs, now))
    seend.wait_at_rest()
    oracle.check_published(topics, published, 2)
    metrics = seend.metrics()
    assert metrics.get('seen_snapshots_failed_total{filter="default"}', 0) == 0
    assert metrics['seen_snapshots_total{filter="default"}'] <= 3 * 3_000


def test_a_snapshot_larger_than_its_topic_takes_is_tried_seldom_until_the_limit_is_raised(
    topics, daemon, topic_name
):
    topics.create(topic_name)
    published = topics.create(f"{topic_name}-filters", cleanup_policy="compact", max_message_bytes=5_000)
    seend = daemon(topic_name).start()
    oracle, now = Oracle(), now_ms()
    topics.produce(topic_name, one_by_one(oracle, [("large", f"item-{i}") for i in range(9_000)], now))
    wait_until(lambda: "max.message.bytes" in seend.log(), "the log names the remedy")
    topics.produce(topic_name, one_by_one(oracle, [(f"user-{u}", "item") for u in range(500)], now))

    def last():
        return topics.newest(published)

    wait_until(lambda: len(set(last()) - {"large"}) == 500, "all others are published")
    raise_limit(topics, published, 100_000)
    wait_until(
        lambda: "large" in last() and read_snapshot(last()["large"]).item_count == 9_000,
        "the large one follows once the topic takes it",
        120,
        every_s=1,
    )
    seend.wait_at_rest()
    oracle.check_published(topics, published, 2)
