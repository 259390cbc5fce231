"""seenctl replay --into-state-topic builds history into the state topic. Then daemons with empty disks
restore it."""

import json
import shutil
import signal
import subprocess
import time

import pytest

import seenctl_tool
from load import Load
from oracle import Oracle
from seenctl_tool import begin, by_partition, digest, run, run_json
from seend import wait_read_by, wait_routed
from test_into_state import history
from test_replay import replay

PARTITIONS = 6


@pytest.fixture
def build(tmp_path):
    """build(seend, *arguments): builds into the daemon's state topic, with its own configuration."""

    def make(seend, *arguments, status=0, **more):
        out, err = run(*command(seend, tmp_path), *arguments, json=True, status=status, **more)
        assert status != 0 or not list(tmp_path.glob("scratch/*")), "what was sorted is gone"
        return json.loads(out) if status == 0 else err

    return make


def command(seend, tmp_path):
    seend.write_config()
    (tmp_path / "scratch").mkdir(exist_ok=True)
    options = ["--into-state-topic", "--quiet", "--scratch", tmp_path / "scratch"]
    return ["replay", "--config", seend.config_path, *options]


def restored(seend):
    return seend.log().count("state restored from the state topic")


def test_daemons_with_empty_disks_go_on_from_the_built_state_with_live_events(
    topics, member, daemon, topic_name, build, tmp_path, chance
):
    topics.create(topic_name, partitions=PARTITIONS)
    load = Load(chance, users=300)
    source = history(tmp_path / "history.jsonl", load.oracle, chance, 60_000)
    load.send(topics, topic_name, 3_000)  # live events before, during and after the build
    members = [member(number) for number in range(3)]
    result = build(members[0], source)
    assert result["events"] == result["items"] == 60_000 and result["partitions"] == PARTITIONS
    assert result["state_bytes"] > 60_000
    load.send(topics, topic_name, 3_000)
    for each in members:
        each.start(ready=False)
    load.send(topics, topic_name, 3_000, rate=2_000)
    wait_routed(members)
    wait_read_by(members, topics, topic_name, published=True)
    assert sum(map(restored, members)) >= PARTITIONS
    load.oracle.check_http(members[0])
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
    for partition in (s for m in members for s in m.partition_status().values()):
        assert partition["lost_ranges"] == [], "there is no gap"

    # A directory that is built from the same history gives the same state, after the same live events.
    alone = daemon(
        topic_name,
        {"kafka": {"group_id": f"{topic_name}-alone"}, "filters": [{"name": "default", "snapshot": None}]},
        name="alone",
    )
    alone.write_config()
    replay(source, "--config", alone.config_path, "--into-state", alone.store, "--quiet")
    alone.start()
    expected = digest(alone)
    found = {}
    for each in members:
        found.update(by_partition(digest(each, "--as-of", expected["as_of_ms"])))
    assert found == by_partition(expected)

    # The daemons keep the state topic up to date: a daemon that loses its disk restores history and live
    # events.
    members[1].stop()
    shutil.rmtree(members[1].store)
    members[1].start(ready=False)
    wait_routed(members)
    load.oracle.check_http(members[0])


def test_state_that_is_there_is_replaced_only_when_it_is_said(
    topics, member, topic_name, build, tmp_path, chance
):
    topics.create(topic_name, partitions=PARTITIONS)
    first, second = Oracle(), Oracle()
    seend = member(0)
    build(seend, history(tmp_path / "first.jsonl", first, chance, 2_000))
    other = history(tmp_path / "second.jsonl", second, chance, 2_000)
    said = build(seend, other, status=1)
    assert f"state.topic {topic_name}-state: partition 0 has state" in said and "--replace" in said
    build(seend, other, "--replace")
    seend.start()
    seend.wait_at_rest()
    assert restored(seend) == PARTITIONS
    second.check_http(seend)
    seend.stop()
    # The tool also replaces the daemon's own state, after the daemon's session has ended.
    started = time.monotonic()
    said = build(seend, other, status=1)
    assert "by member-0" in said and "--replace" in said
    build(seend, tmp_path / "first.jsonl", "--replace")
    assert time.monotonic() - started < 30
    shutil.rmtree(seend.store)
    seend.start()
    seend.wait_at_rest()
    first.check_http(seend)


def test_a_group_that_runs_is_left_alone(topics, member, topic_name, build, tmp_path, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    source = history(tmp_path / "history.jsonl", Oracle(), chance, 100)
    seend = member(0).start()
    said = build(seend, source, "--replace", status=1)
    assert f"kafka.group_id {topic_name}-group: member-0 at" in said and "Remedy: stop" in said
    assert all(s["foreign_records"] == 0 for s in seend.status()["state_topic"]["streams"])


def test_mistakes_are_named(topics, member, topic_name, build, tmp_path, chance):
    source = history(tmp_path / "history.jsonl", Oracle(), chance, 100)
    assert "--config" in replay(source, "--into-state-topic", status=2)[1]
    seend = member(0)
    assert "excludes" in build(seend, source, "--into-state", tmp_path / "x", status=2)
    assert "--progress" in build(seend, source, "--progress", tmp_path / "p", status=2)
    assert "--partitions" in build(seend, source, status=1), "the input topic doesn't exist"
    without = member(1, state={"topic": None})
    assert "state.topic is null" in build(without, source, status=2)
    replica = member(2, role="replica", replica_of=f"{topic_name}-group")
    replica.config["kafka"]["group_id"] = f"{topic_name}-zone-b"
    said = build(replica, source, status=2)
    assert "role" in said and f"{topic_name}-group" in said
    topics.create(topic_name, partitions=2)
    topics.create(f"{topic_name}-state", partitions=1)
    said = build(seend, source, status=1)
    assert "has 1 partitions, not 2" in said and "Remedy" in said
    topics.delete(f"{topic_name}-state")
    build(seend, source)
    seend.config["kafka"]["group_id"] = "another"
    said = build(seend, source, "--replace", status=1)
    assert f'state of group "{topic_name}-group"' in said


def test_a_base_without_its_last_part_is_none(topics, member, topic_name, build, tmp_path, chance):
    """Partition 0 lacks its last record, as if the tool was killed. The other partitions are complete."""
    topics.create(topic_name, partitions=PARTITIONS)
    oracle = Oracle()
    seend = member(0)
    build(seend, history(tmp_path / "history.jsonl", oracle, chance, 5_000))
    ends = topics.ends(f"{topic_name}-state")
    cut = topics.create(f"{topic_name}-cut", partitions=PARTITIONS)
    kept = [
        m for m in topics.read_all(f"{topic_name}-state") if m.partition() != 0 or m.offset() + 1 < ends[0][1]
    ]
    topics.produce(cut, [(m.key(), m.value(), {"partition": m.partition()}) for m in kept])
    seend.config["state"]["topic"] = cut
    seend.start()
    seend.wait_at_rest()
    assert restored(seend) == PARTITIONS - 1
    assert seend.log().count("the state topic holds no state") == 1
    items = {
        p["partition"]: sum(f["items"] for f in p["filters"])
        for p in run_json("digest", "--http", seend.url)["partitions"]
    }
    assert items[0] == 0 and all(items[p] > 0 for p in range(1, PARTITIONS)), items


def test_a_killed_build_is_finished_by_the_same_command(topics, member, topic_name, tmp_path, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    oracle = Oracle()
    source = history(tmp_path / "history.jsonl", oracle, chance, 100_000, users=2_000)
    seend = member(0)

    def records():
        return topics.total(f"{topic_name}-state")

    left = 0
    for _ in range(5):
        before = records()
        running = begin(*command(seend, tmp_path), source, memory_mib=64)
        try:
            # The tool runs in slices and is paused while the test reads the ends, so it can't finish
            # unnoticed.
            deadline = time.monotonic() + 60
            while records() == before and running.poll() is None and time.monotonic() < deadline:
                running.send_signal(signal.SIGCONT)
                time.sleep(0.005)
                running.send_signal(signal.SIGSTOP)
            running.send_signal(signal.SIGCONT)
            time.sleep(chance.random() * 0.01)
            running.send_signal(signal.SIGKILL)
        finally:
            running.wait()
        if running.returncode == 0:
            break  # it finished before the kill
        left += records() > before
    assert left > 0, "some were killed while they wrote"
    if running.returncode != 0:
        # The last kill may have come after the tool had written everything, just before its exit.
        done = subprocess.run(
            seenctl_tool.command(*command(seend, tmp_path), source), capture_output=True, timeout=120
        )
        finished = b"has state of group" in done.stderr and b"--replace" in done.stderr
        assert done.returncode == 0 or finished, done.stderr
    seend.start()
    seend.wait_at_rest()
    assert restored(seend) == PARTITIONS
    oracle.check_http(seend, users=oracle.users()[:200])
