"""The state topic holds the state, so a lost disk doesn't lose it."""

import json
import shutil

import pytest
from load import one_by_one
from oracle import Oracle
from places import wait_until
from seenctl_tool import by_partition, digest, run, run_json
from seend import wait_streamed

USERS = [f"u{i}" for i in range(60)]
PARTITIONS = 3


@pytest.fixture
def streaming(topics, daemon, topic_name):
    """A daemon that has read each user's "old" item and sent its state to the state topic."""
    topics.create(topic_name, partitions=PARTITIONS)
    seend = daemon(topic_name, {"state": {"topic": f"{topic_name}-state", "run_every_s": 1}})
    seend.start()
    topics.produce(topic_name, one_by_one(Oracle(), [(user, f"old-{user}") for user in USERS]))
    seend.wait_at_rest()
    wait_streamed([seend], topics.end_offsets(topic_name))
    return seend


def send_newer(topics, seend, topic):
    topics.produce(topic, one_by_one(Oracle(), [(user, f"newer-{user}") for user in USERS]))
    seend.wait_at_rest()


def start_without_disk(seend):
    shutil.rmtree(seend.store)
    seend.start()
    seend.wait_at_rest()


def restored(seend):
    return [line for line in seend.log().splitlines() if "state restored from the state topic" in line]


def check(seend, item):
    for user in USERS:
        assert seend.unseen(user, [f"{item}-{user}", "never"]) == ["never"], user


def test_state_is_there_again_after_its_disk_and_the_records_it_was_made_of_are_gone(
    kafka, topics, streaming, topic_name
):
    streaming.stop()
    shutil.rmtree(streaming.store)
    kafka.delete_records(topic_name, topics.end_offsets(topic_name))
    topics.produce(topic_name, one_by_one(Oracle(), [("u0", "new")]))
    streaming.start()
    streaming.wait_at_rest()
    assert len(restored(streaming)) == PARTITIONS
    check(streaming, "old")
    assert streaming.unseen("u0", ["new", "never"]) == ["never"]
    for partition in streaming.partition_status().values():
        assert partition["lost_ranges"] == [], "nothing that it read had gone"
        assert partition["filters"][0]["complete_since"] is None, "the filter is whole"
    # After a restore, the daemon streams new changes, and a second restore has all of them.
    send_newer(topics, streaming, topic_name)
    streaming.stop()
    kafka.delete_records(topic_name, topics.end_offsets(topic_name))
    start_without_disk(streaming)
    check(streaming, "old")
    check(streaming, "newer")


def test_state_is_restored_after_kill_9(topics, streaming, topic_name):
    send_newer(topics, streaming, topic_name)
    streaming.kill9()
    start_without_disk(streaming)
    assert len(restored(streaming)) == PARTITIONS
    check(streaming, "old")
    check(streaming, "newer")


def test_a_kill_leaves_state_where_it_is_and_the_stream_goes_on(topics, streaming, topic_name):
    streaming.kill9()
    streaming.start()
    send_newer(topics, streaming, topic_name)
    assert not restored(streaming), "state was there"
    wait_streamed([streaming], topics.end_offsets(topic_name))
    streaming.stop()
    start_without_disk(streaming)
    assert len(restored(streaming)) == PARTITIONS
    check(streaming, "old")
    check(streaming, "newer")


def test_an_older_copy_is_brought_up_to_date(kafka, topics, streaming, topic_name):
    streaming.stop()
    copy = streaming.store.with_name("copy")
    shutil.copytree(streaming.store, copy)
    streaming.start()
    send_newer(topics, streaming, topic_name)
    streaming.stop()
    shutil.rmtree(streaming.store)
    copy.rename(streaming.store)
    kafka.delete_records(topic_name, topics.end_offsets(topic_name))
    streaming.start()
    streaming.wait_at_rest()
    assert streaming.log().count("state brought up to date from the state topic") == PARTITIONS
    assert not restored(streaming), "what the copy had didn't come again"
    check(streaming, "old")
    check(streaming, "newer")
    for partition in streaming.partition_status().values():
        assert partition["lost_ranges"] == []


def test_what_a_newer_base_replaces_is_deleted_after_a_while(topics, daemon, topic_name):
    topics.create(topic_name, partitions=PARTITIONS)
    seend = daemon(
        topic_name, {"state": {"topic": f"{topic_name}-state", "run_every_s": 1, "trim_after_s": 2}}
    )
    seend.start()
    topics.produce(topic_name, one_by_one(Oracle(), [(user, f"old-{user}") for user in USERS]))
    seend.wait_at_rest()
    wait_until(lambda: all(s["base_at"] for s in seend.status()["state_topic"]["streams"]), "bases")
    seend.stop()
    seend.config["state"]["topic"] = None
    seend.start()
    send_newer(topics, seend, topic_name)
    seend.stop()
    seend.config["state"]["topic"] = f"{topic_name}-state"
    seend.start()  # the topic lacks the latest changes, so the daemon writes a new base

    def trimmed():
        begins = topics.ends(f"{topic_name}-state")
        streams = seend.status()["state_topic"]["streams"]
        return [s for s in streams if s["bases"] and begins[s["partition"]][0] == s["base_at"] > 1]

    wait_until(lambda: len(trimmed()) == PARTITIONS, "each partition begins with its newest base")
    seend.stop()
    start_without_disk(seend)
    assert len(restored(seend)) == PARTITIONS
    check(seend, "old")
    check(seend, "newer")


def test_another_groups_state_is_neither_taken_nor_mixed_with_ones_own(topics, streaming, daemon, topic_name):
    wait_until(
        lambda: min(topics.end_offsets(f"{topic_name}-state").values()) >= 2, "each partition has a base"
    )
    other = daemon(
        topic_name,
        {
            **streaming.config,
            "kafka": {"brokers": topics.bootstrap, "group_id": "other"},
            "store": {"directory": str(streaming.store.with_name("other"))},
            "filters": [{"name": "default", "snapshot": {"topic": f"{topic_name}-others"}}],
        },
        name="other",
    )
    other.config["http"]["listen"] = other.address
    other.start(ready=False)
    wait_until(lambda: "Set state.topic to a topic of this group's own" in other.log(), "it names the remedy")
    assert not [line for line in other.log().splitlines() if "state restored" in line]
    other.wait_at_rest()  # it works as it would without a state topic
    check(other, "old")
    wait_until(lambda: "Set state.topic" in other.status()["state_topic"]["problem"], "and says so")
    assert all(s["foreign_records"] == 0 for s in streaming.status()["state_topic"]["streams"])


def test_without_a_usable_topic_the_daemon_goes_on_and_says_so(topics, daemon, topic_name):
    topics.create(topic_name, partitions=PARTITIONS)
    topics.create(f"{topic_name}-state", partitions=1)
    seend = daemon(topic_name, {"state": {"topic": f"{topic_name}-state"}}).start()
    topics.produce(topic_name, one_by_one(Oracle(), [("u0", "old-u0")]))
    seend.wait_at_rest()
    assert seend.unseen("u0", ["old-u0", "never"]) == ["never"]
    assert "has 1 partitions, and users map to 3" in seend.status()["state_topic"]["problem"]
    assert any("state is only on this machine" in trouble for trouble in seend.status()["troubles"])


def test_state_is_streamed_unless_it_is_said_otherwise(topics, daemon, topic_name):
    topics.create(topic_name, partitions=1)
    seend = daemon(topic_name)
    del seend.config["state"]
    seend.start()
    assert seend.status()["state_topic"]["topic"] == "seen-state"
    assert seend.status()["state_topic"]["problem"] == ""
    assert len(topics.ends("seen-state")) == 1


def test_what_the_topic_holds_is_what_the_daemon_holds(topics, streaming, topic_name, tmp_path):
    send_newer(topics, streaming, topic_name)
    wait_streamed([streaming], topics.end_offsets(topic_name))
    expected = tmp_path / "daemon.json"
    expected.write_text(json.dumps(digest(streaming)))
    source = ("--from-state-topic", "--config", streaming.config_path, "--scratch", tmp_path / "scratch")
    (tmp_path / "scratch").mkdir()
    found = run_json("digest", *source, "--expect", expected)
    assert by_partition(found) == by_partition(json.loads(expected.read_text()))
    lines = [json.loads(line) for line in run("export", *source)[0].splitlines()]
    assert sorted(line["user_id"] for line in lines) == sorted(USERS)
    assert not list((tmp_path / "scratch").iterdir()), "what was read is gone"
    assert "--config" in run("digest", "--from-state-topic", status=2)[1]
    assert "several are given" in run("digest", *source, "--dir", streaming.store, status=2)[1]


def test_a_topic_without_a_whole_base_is_no_empty_state(topics, daemon, topic_name):
    topics.create(f"{topic_name}-state", partitions=PARTITIONS)
    seend = daemon(topic_name, {"state": {"topic": f"{topic_name}-state"}})
    seend.write_config()
    said = run("digest", "--from-state-topic", "--config", seend.config_path, status=1)[1]
    assert "partition 0" in said and "no whole base" in said and "Remedy" in said
