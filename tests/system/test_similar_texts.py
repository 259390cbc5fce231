"""The daemon's groups of texts that other people wrote, compared with the truth that
benchmarks/similar/truth.py computes without seend's code."""

import json
import os

import pytest

from places import wait_until
from test_bench_similar import BARS, known, measure, texts, truth  # noqa: F401

pytestmark = pytest.mark.heavy
GROUPED = int(os.environ.get("SEEN_TEXTS_GROUPED", "8000"))  # number of texts that the daemon groups


def test_groups_that_the_daemon_publishes_are_right(known, topics, daemon, topic_name):
    """Compares the topic of groups with the truth. Items and groups go through the real broker."""
    items, sets = (
        known["long"].items[-GROUPED:],
        known["long"].sets[-GROUPED:],
    )  # names from l to z: whole libraries
    topics.create(topic_name, partitions=1)
    topics.create(f"{topic_name}-items", partitions=1)
    seend = daemon(
        topic_name,
        {
            "items": {
                "topic": f"{topic_name}-items",
                "groups_topic": f"{topic_name}-groups",
                "containment_min": 0,
            }
        },
    ).start()
    topics.produce(f"{topic_name}-items", [(item["item_id"], json.dumps(item)) for item in items])

    def at_rest():
        partition = seend.get("/v1/status").json()["items"]["partitions"][0]
        return partition if partition["checkpoint_offset"] == len(items) else None

    status = wait_until(at_rest, "all items are grouped", 300)
    records = {
        message.key().decode(): json.loads(message.value())
        for message in topics.read_all(f"{topic_name}-groups")
    }
    position = {item["item_id"]: i for i, item in enumerate(items)}
    assert set(records) == set(position)

    pairs = truth.with_equal_numbers(truth.near_pairs(sets), items)
    near = {
        position[name]: [position[other["item_id"]] for other in record["near"]]
        for name, record in records.items()
    }
    found = measure.lists(near, pairs)
    grouped = [
        (position[name], position[record["group_id"]])
        for name, record in records.items()
        if record["group_id"] != name
    ]
    right = sum(truth.jaccard(sets[item], sets[first]) >= truth.THRESHOLD for item, first in grouped)
    counts = {"items": len(items), "pairs": len(pairs), "grouped": len(grouped), "right": right}
    print(json.dumps({**counts, "near": found, "status": status}))
    precision, recall = BARS["long"]
    assert len(grouped) > 500 and right >= precision * len(grouped)
    assert found["right"] >= precision * found["entries"] and found["right"] >= recall * found["room"], found
    assert all(
        records[record["group_id"]]["group_id"] == record["group_id"] for record in records.values()
    ), "a group's first item is in its own group"
