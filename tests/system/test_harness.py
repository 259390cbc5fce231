"""The tests compare the daemon with second implementations. This module checks those against published
values and Kafka."""

import json
import zlib

import pytest

from hashes import fingerprint, partition_of, xxh64
from places import SOURCE
from snapshot_reader import (
    group_print,
    might_be_near,
    might_contain,
    might_hold_group,
    near_print,
    read_snapshot,
    render,
)


@pytest.mark.parametrize(
    "data, expected",
    [  # xxHash's own sanity checks and published values
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_xxh64_gives_the_published_values(data, expected):
    assert xxh64(data) == expected


@pytest.mark.parametrize("partitioner, librdkafka_name", [("murmur2", "murmur2"), ("crc32", "consistent")])
def test_users_map_to_the_partitions_that_producers_choose(partitioner, librdkafka_name, topics, topic_name):
    topics.create(topic_name, partitions=7)
    users = [f"user-{i}" for i in range(50)] + ["用户", "x", "xy", "xyz", "wxyz"]
    places = topics.produce(topic_name, [(user, "{}") for user in users], partitioner=librdkafka_name)
    assert [p for p, _ in places] == [partition_of(user, 7, partitioner) for user in users]
    assert zlib.crc32(b"123456789") == 0xCBF43926


GOLDEN = SOURCE / "tests" / "golden" / "snapshot"


def test_golden_snapshots_are_read_and_refused_as_the_index_says():
    index = json.loads((GOLDEN / "index.json").read_text())
    for case in index["snapshots"]:
        if {case["format"], case.get("similar_format", "split_block_bloom")} != {"split_block_bloom"}:
            continue  # this reader knows only the default kind; clients/ have readers of all kinds
        snapshot = read_snapshot((GOLDEN / case["file"]).read_bytes())
        for field in (
            "item_count",
            "as_of_ms",
            "horizon_day",
            "partition",
            "input_offset",
            "false_positive_rate",
        ):
            assert getattr(snapshot, field) == case[field], case["file"]
        assert all(might_contain(snapshot.payload, str(item)) for item in case["seen"])
        assert not any(might_contain(snapshot.payload, str(item)) for item in case["unseen"])
        assert (snapshot.similar is not None) == ("similar_format" in case)
        assert all(might_be_near(snapshot, item) for item in case.get("near", []))
        assert all(might_hold_group(snapshot, item) for item in case.get("groups", []))
        assert not any(might_be_near(snapshot, item) for item in case.get("not_near", []))
        assert not any(might_hold_group(snapshot, item) for item in case.get("not_groups", []))
        if snapshot.similar is not None:
            prints = {near_print(item) for item in case["near"]} | {
                group_print(item) for item in case["groups"]
            }
            assert len(prints) == snapshot.similar_count
            assert render(prints, len(snapshot.similar) // 32) == snapshot.similar
        blocks = len(snapshot.payload) // 32
        if len(case["seen"]) == snapshot.item_count:
            assert render({fingerprint(str(item)) for item in case["seen"]}, blocks) == snapshot.payload
    for case in index["refused"]:
        with pytest.raises(ValueError):
            read_snapshot((GOLDEN / case["file"]).read_bytes(), updates=False)
