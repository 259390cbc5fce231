"""A state directory of an earlier version: the daemon opens it in place, reads on, and streams it to the
state topic."""

import shutil

import pytest
import stored_state
from seend import wait_streamed
from snapshot_reader import read_snapshot


@pytest.fixture
def topic(topics):
    """The topic from which the state was made, with the same records."""
    topics.create(stored_state.TOPIC, stored_state.PARTITIONS, retention_ms=-1)
    records, _, _ = stored_state.records()
    topics.produce(stored_state.TOPIC, records)
    yield stored_state.TOPIC
    for name in topics.admin().list_topics(timeout=10).topics:
        if name.startswith(stored_state.TOPIC):
            topics.delete(name)


def test_state_of_an_earlier_version_is_opened_in_place_and_streamed(
    kafka, topics, topic, topic_name, daemon
):
    _, expected, _ = stored_state.records()
    seend = daemon(
        topic,
        {
            "kafka": {"group_id": topic_name},
            "filters": stored_state.FILTERS,
            "state": {"topic": f"{topic}-state", "run_every_s": 1},
        },
    )
    stored_state.unpack(seend.store)
    seend.start()
    ends = seend.wait_at_rest()
    assert seend.metric_sum("seen_events_total") == 0, "nothing was read again"
    for status in seend.partition_status().values():
        assert status["lost_ranges"] == [] and all(f["complete_since"] is None for f in status["filters"]), (
            status
        )
    stored_state.check(seend, expected)
    check_marked(topics, topic, expected)

    wait_streamed([seend], ends)
    seend.stop()
    shutil.rmtree(seend.store)
    kafka.delete_records(topic, ends)
    seend.start()
    seend.wait_at_rest()
    assert seend.log().count("state restored from the state topic") == stored_state.PARTITIONS
    stored_state.check(seend, expected)


def check_marked(topics, topic, expected):
    """Checks that this version has published the snapshots that the earlier version had marked and not
    published."""
    published = {m.key().decode(): read_snapshot(m.value()) for m in topics.read_all(f"{topic}-filters")}
    assert set(stored_state.MARKED) <= set(published)
    for user in stored_state.MARKED:
        assert published[user].item_count == len(expected.exposed.items(user)) + 1, "exposed and bought"


def test_a_directory_of_an_earlier_version_whose_topic_was_recreated_is_refused(
    topics, topic, topic_name, daemon
):
    """The state identifies the topic that it was made from. The daemon reads this from the earlier version's
    files, too."""
    topics.delete(topic)
    topics.create(topic, stored_state.PARTITIONS, retention_ms=-1)
    records, _, _ = stored_state.records()
    topics.produce(topic, [(key, value + " ", place) for key, value, place in records])
    seend = daemon(topic, {"kafka": {"group_id": topic_name}, "filters": stored_state.FILTERS})
    stored_state.unpack(seend.store)
    seend.start(ready=False)
    assert "--rebuild" in seend.wait_refused(range(stored_state.PARTITIONS))
