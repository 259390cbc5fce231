"""Snapshot topics with a small max.message.bytes: batches stay below it, and a large snapshot delays no other
user."""

from confluent_kafka.admin import RESOURCE_TOPIC, ConfigResource

from load import one_by_one
from oracle import Oracle
from places import now_ms, wait_until
from snapshot_reader import read_snapshot


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
        return {m.key().decode(): m.value() for m in topics.read_all(published)}

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
