"""State travels by the state topic: a disk that was lost isn't lost state."""

import shutil

import pytest
from load import one_by_one
from oracle import Oracle
from places import wait_until

USERS = [f"u{i}" for i in range(60)]
PARTITIONS = 3


@pytest.fixture
def streaming(topics, daemon, topic_name):
    """A daemon that has read each user's "old" item."""
    topics.create(topic_name, partitions=PARTITIONS)
    seend = daemon(topic_name, {"state": {"topic": f"{topic_name}-state", "run_every_s": 1}})
    seend.start()
    topics.produce(topic_name, one_by_one(Oracle(), [(user, f"old-{user}") for user in USERS]))
    seend.wait_at_rest()
    return seend


def ends(topics, topic):
    return {partition: end for partition, (_, end) in topics.ends(topic).items()}


def restored(seend):
    return [line for line in seend.log().splitlines() if "state restored from the state topic" in line]


def check(seend, item):
    for user in USERS:
        assert seend.unseen(user, [f"{item}-{user}", "never"]) == ["never"], user


def test_state_is_there_again_after_its_disk_and_the_records_it_was_made_of_are_gone(kafka, topics, streaming, topic_name):
    streaming.stop()
    shutil.rmtree(streaming.store)
    kafka.delete_records(topic_name, ends(topics, topic_name))
    topics.produce(topic_name, one_by_one(Oracle(), [("u0", "new")]))
    streaming.start()
    streaming.wait_at_rest()
    assert len(restored(streaming)) == PARTITIONS
    check(streaming, "old")
    assert streaming.unseen("u0", ["new", "never"]) == ["never"]
    for partition in streaming.partition_status().values():
        assert partition["lost_ranges"] == [], "nothing that it read had gone"
        assert partition["filters"][0]["complete_since"] is None, "the filter is whole"
    # What was restored is streamed on, and restored once more.
    topics.produce(topic_name, one_by_one(Oracle(), [(user, f"newer-{user}") for user in USERS]))
    streaming.wait_at_rest()
    streaming.stop()
    shutil.rmtree(streaming.store)
    kafka.delete_records(topic_name, ends(topics, topic_name))
    streaming.start()
    streaming.wait_at_rest()
    check(streaming, "old")
    check(streaming, "newer")


def test_state_is_restored_after_kill_9(topics, streaming, topic_name):
    wait_until(lambda: min(ends(topics, f"{topic_name}-state").values()) >= 2, "each partition has a base")
    topics.produce(topic_name, one_by_one(Oracle(), [(user, f"newer-{user}") for user in USERS]))
    streaming.wait_at_rest()
    streaming.kill9()
    shutil.rmtree(streaming.store)
    streaming.start()
    streaming.wait_at_rest()
    assert len(restored(streaming)) == PARTITIONS
    check(streaming, "old")
    check(streaming, "newer")


def test_a_kill_leaves_state_where_it_is_and_the_stream_goes_on(topics, streaming, topic_name):
    wait_until(lambda: min(ends(topics, f"{topic_name}-state").values()) >= 2, "each partition has a base")
    streaming.kill9()
    streaming.start()
    topics.produce(topic_name, one_by_one(Oracle(), [(user, f"newer-{user}") for user in USERS]))
    streaming.wait_at_rest()
    assert not restored(streaming), "state was there"
    streaming.stop()
    shutil.rmtree(streaming.store)
    streaming.start()
    streaming.wait_at_rest()
    assert len(restored(streaming)) == PARTITIONS
    check(streaming, "old")
    check(streaming, "newer")
