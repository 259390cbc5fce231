"""The exact oracle on a sample: every item that the topic has of 1,000 users, and the check of answers
against them."""

import json
import random
import zlib

import confluent_kafka
from confluent_kafka import Consumer, TopicPartition

import paths
from hashes import fingerprint

USERS = 1_000
STRANGERS = 200  # items never shown, asked of each user


def each_message(topics, topic, batch=10_000, begins=None):
    """Every record that is in the topic now, in order within a partition. `begins`: {partition: offset} to
    read from; other partitions are left out."""
    ends = {p: end for p, (low, end) in topics.ends(topic).items() if end > (begins or {}).get(p, low)}
    if begins is not None:
        ends = {p: end for p, end in ends.items() if p in begins}
    consumer = Consumer(
        {
            "bootstrap.servers": topics.bootstrap,
            "group.id": "bench-oracle",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "queued.min.messages": 1_000_000,
            "queued.max.messages.kbytes": 262_144,
        }
    )
    begins = begins or {}
    consumer.assign([TopicPartition(topic, p, begins.get(p, confluent_kafka.OFFSET_BEGINNING)) for p in ends])
    try:
        quiet = 0
        while ends:
            messages = consumer.consume(batch, timeout=1)
            quiet = 0 if messages else quiet + 1
            if quiet > 30:
                raise RuntimeError(f"{topic} can't be read to its end: {ends}")
            for message in messages:
                if message.error() is None:
                    yield message
                elif message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF:
                    if message.offset() >= ends.get(message.partition(), 0):
                        ends.pop(message.partition(), None)
                else:
                    raise confluent_kafka.KafkaException(message.error())
    finally:
        consumer.close()


def items_of(event):
    if "items" in event:
        return [item if isinstance(item, str) else item["item_id"] for item in event["items"]]
    return [event["item_id"]]


def sample(bench, workload, users=USERS):
    """{user: [item ids]} of users chosen evenly among those in the topic. The result is kept in a file for
    this topic."""
    cache = paths.WORK / f"oracle-{workload.topic}.json"
    at = workload.figures["at"]
    if cache.exists():
        kept = json.loads(cache.read_text())
        if kept["at"] == at:
            return kept["users"]
    share = max(1, min(workload.users, workload.events // 15) // (4 * users))
    found, wanted = {}, {}
    for message in each_message(bench.topics, workload.topic):
        key = message.key()
        keep = wanted.get(key)
        if keep is None:
            keep = wanted[key] = zlib.crc32(key) % share == 0
        if keep:
            found.setdefault(key.decode(), set()).update(items_of(json.loads(message.value())))
    chosen = random.Random(4).sample(sorted(found), min(users, len(found)))
    kept = {"at": at, "users": {user: sorted(found[user]) for user in chosen}}
    cache.write_text(json.dumps(kept))
    return kept["users"]


def check(answers, oracle):
    """{"users", "items", "false_negatives", "probes", "false_positives"}"""
    result = {"users": 0, "items": 0, "false_negatives": 0, "probes": 0, "false_positives": 0}
    for user, items in oracle.items():
        ask = answers.get(user)
        result["users"] += 1
        result["items"] += len(items)
        if ask is None:
            result["false_negatives"] += len(items)
            continue
        result["false_negatives"] += sum(not ask(item) for item in items)
        prints = {fingerprint(item) for item in items}
        strangers = [f"never-shown-{i}" for i in range(STRANGERS)]
        strangers = [item for item in strangers if fingerprint(item) not in prints]
        result["probes"] += len(strangers)
        result["false_positives"] += sum(bool(ask(item)) for item in strangers)
    return result
