"""The state topic holds the state, so a lost disk doesn't lose it."""

import json
import shutil
import struct

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
    wait_until(lambda: "or state.topic, to a name of this group's own" in other.log(), "it names the remedy")
    assert not [line for line in other.log().splitlines() if "state restored" in line]
    other.wait_at_rest()  # it works as it would without a state topic
    check(other, "old")
    wait_until(lambda: "topic_prefix" in other.status()["state_topic"]["problem"], "and says so")
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


def streams(seend):
    return {s["partition"]: s for s in seend.status()["state_topic"]["streams"]}


def wait_bases(seend, known=None):
    """Waits until the state topic has a base of each partition, with all of the state. `known`: the streams
    of before the fault: their bases are gone."""

    def based():
        now = streams(seend)
        at = {p: s["next_offset"] for p, s in seend.partition_status().items()}
        return len(now) == PARTITIONS and all(
            s["base_at"] is not None
            and s["sent_to"] == at[p]
            and not s["problem"]
            and (known is None or s["bases"] > known[p]["bases"])
            for p, s in now.items()
        )

    wait_until(based, "each partition has a base", 120)


def check_restore(kafka, topics, seend, topic):
    """All state comes back from the state topic."""
    seend.stop()
    kafka.delete_records(topic, topics.end_offsets(topic))
    start_without_disk(seend)
    assert len(restored(seend)) == PARTITIONS
    check(seend, "old")


def text(value):
    return struct.pack("<H", len(value)) + value.encode()


def test_records_of_others_are_skipped_and_counted(kafka, topics, streaming, topic_name):
    """Strays hide neither base nor runs, and offsets that the topic can't have are refused."""
    wait_bases(streaming)
    streaming.stop()
    opening = struct.pack("<BBBqqq", 1, 1, 0, 0, 1, 1 << 62) + text(streaming.group) + text("x") + text("1")
    part = struct.pack("<BBBqIIqqqH", 1, 2, 3, 1 << 61, 0, 0, 1 << 62, 0, 1 << 60, 0)
    for partition in range(PARTITIONS):
        forged = [(streaming.group, value, {"partition": partition}) for value in (opening, part)]
        strays = [(None, b"stray", {"partition": partition})] * 100
        topics.produce(f"{topic_name}-state", [*forged, *strays])
    streaming.start()
    send_newer(topics, streaming, topic_name)
    wait_streamed([streaming], topics.end_offsets(topic_name))
    ends = topics.end_offsets(f"{topic_name}-state")
    for partition, stream in streams(streaming).items():
        assert stream["base_at"] < ends[partition], "no base that can't be"
        assert stream["refused_records"] >= 2 and stream["foreign_records"] >= 100, stream
    check_restore(kafka, topics, streaming, topic_name)
    check(streaming, "newer")


@pytest.mark.parametrize("runs", [True, False], ids=["while it runs", "before it starts"])
def test_a_base_that_was_deleted_is_replaced(kafka, topics, streaming, topic_name, runs):
    wait_bases(streaming)
    known = streams(streaming)
    if not runs:
        streaming.stop()
        known = {p: {"bases": 0} for p in known}
    kafka.delete_records(f"{topic_name}-state", topics.end_offsets(f"{topic_name}-state"))
    if not runs:
        streaming.start()
    wait_bases(streaming, known)
    check_restore(kafka, topics, streaming, topic_name)


def test_a_state_topic_that_was_recreated_begins_with_a_base(kafka, topics, streaming, topic_name):
    wait_bases(streaming)
    known = streams(streaming)
    topics.delete(f"{topic_name}-state")
    topics.create(f"{topic_name}-state", partitions=PARTITIONS)
    wait_bases(streaming, known)
    ends = topics.end_offsets(f"{topic_name}-state")
    assert all(s["base_at"] < ends[p] for p, s in streams(streaming).items()), "bases of the new topic"
    assert "the state topic lacks a base" in streaming.log()
    check_restore(kafka, topics, streaming, topic_name)


def test_partitions_that_the_recreated_state_topic_lacks_are_a_trouble(kafka, topics, streaming, topic_name):
    wait_bases(streaming)
    topics.delete(f"{topic_name}-state")
    topics.create(f"{topic_name}-state", partitions=1)

    def named():
        troubles = " ".join(streaming.status()["troubles"])
        return all(f"state of partition {p} isn't in topic" in troubles for p in (1, 2))

    wait_until(named, "the missing partitions are named", 120)
    wait_until(lambda: not streams(streaming)[0]["problem"], "partition 0 is there", 120)
    wait_until(
        lambda: named() and streaming.metric_sum("seen_state_topic_problems") == 2,
        "one success doesn't hide the others",
        120,
    )
    topics.add_partitions(f"{topic_name}-state", PARTITIONS)
    wait_bases(streaming)
    check_restore(kafka, topics, streaming, topic_name)
