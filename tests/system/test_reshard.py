"""docs/RESHARD.md, step by step: state moves to a topic with more partitions, and nothing is lost."""

import json
import signal
import subprocess
import time

import pytest
from load import Load
from oracle import DAY_MS, Oracle, event
from places import SEENCTL, now_ms, wait_until
from seenctl_tool import digest, run, run_json
from seend import one_filter
from test_into_state import history

OLD_PARTITIONS, NEW_PARTITIONS = 3, 8
TAKEN_BACK = "taken-back"


@pytest.fixture
def old(topics, daemon, topic_name, chance):
    """The old daemon at rest, with an item taken back and a user erased."""
    topics.create(topic_name, partitions=OLD_PARTITIONS)
    seend = daemon(
        topic_name,
        {
            "state": {"topic": f"{topic_name}-state", "run_every_s": 1},
            "filters": [{"name": "default", "snapshot": None}],
        },
    ).start()  # no snapshots, so no marks keep ids
    load = Load(chance, users=300)
    load.send(topics, topic_name, 3_000)
    user = load.oracle.users()[0]
    on_a_day_of_others = min(load.oracle.days[user]) * DAY_MS + 1
    topics.produce(
        topic_name,
        [("gone", event("gone", "a", now_ms())), (user, event(user, TAKEN_BACK, on_a_day_of_others))],
    )
    assert seend.http.delete("/v1/users/gone").status == 202
    # This item isn't one of the load's items. An earlier exposure that arrives after a removal doesn't count,
    # and the oracle would count it.
    assert seend.http.post(f"/v1/users/{user}/removed", {"items": [TAKEN_BACK]}).status == 202
    seend.wait_at_rest()
    return seend, load


def resharded(daemon, topic, state_topic, name):
    """A new daemon, configured as step 4 says. No name of the old daemons' group or topics is used again."""
    config = {
        "state": {"topic": state_topic, "run_every_s": 1},
        "kafka": {"group_id": f"{state_topic}-group"},
        **one_filter(f"{topic}-{name}"),
    }
    return daemon(topic, config, name=name)


def reshard(kafka, topic, state_topic, *more, status=0, **source):
    """`source`: from_=backups or dir=directory"""
    into = {"topic": topic, "partitions": NEW_PARTITIONS, "state_topic": state_topic}
    own = {"brokers": kafka.bootstrap, "group": f"{state_topic}-group", "quiet": True}
    return run("reshard", *more, **source, **into, **own, status=status)


def back_up(seend, to):
    run("backup", "--http", seend.url, "--to", to, "--quiet")


def check(new, load):
    load.oracle.check_http(new)
    assert new.unseen("gone", ["a"]) == ["a"], "what was erased stays so"
    assert new.unseen(load.oracle.users()[0], [TAKEN_BACK]) == [TAKEN_BACK], "what was taken back stays so"
    for partition in new.partition_status().values():
        assert partition["lost_ranges"] == [], "nothing was lost"
        assert partition["filters"][0]["complete_since"] is None, "the filter is whole"


def test_a_rehearsal_has_the_old_digests(kafka, topics, old, daemon, topic_name, tmp_path):
    seend, load = old
    new_topic = topics.create(f"{topic_name}-new", partitions=NEW_PARTITIONS)
    before = digest(seend)
    (tmp_path / "before.json").write_text(json.dumps(before))
    back_up(seend, tmp_path / "backups")
    sent = json.loads(
        reshard(kafka, new_topic, f"{topic_name}-rehearsal", "--json", from_=tmp_path / "backups")[0]
    )
    assert sent["rows"] >= before["sum"][0]["users"] and sent["rows_to_all"] == 1, "the erased user's"
    rehearsal = resharded(daemon, new_topic, f"{topic_name}-rehearsal", "rehearsal").start()
    assert rehearsal.log().count("state restored from the state topic") == NEW_PARTITIONS
    after = digest(rehearsal, "--expect", tmp_path / "before.json")
    assert after["sum"][0]["users_without_id"] == NEW_PARTITIONS
    assert after["sum"][0]["users"] - NEW_PARTITIONS == before["sum"][0]["users"] - 1
    check(rehearsal, load)
    # Reshard the resharded state once more. Sets that are in several partitions must be merged again.
    rehearsal.stop()
    newer_topic = topics.create(f"{topic_name}-newer", partitions=NEW_PARTITIONS)
    reshard(kafka, newer_topic, f"{topic_name}-again", dir=rehearsal.store)
    again = resharded(daemon, newer_topic, f"{topic_name}-again", "again").start()
    digest(again, "--expect", tmp_path / "before.json")


@pytest.mark.parametrize("both", [False, True], ids=["switched", "written-to-both"])
def test_a_cut_over_loses_nothing(kafka, topics, old, daemon, topic_name, tmp_path, both):
    seend, load = old
    new_topic = topics.create(f"{topic_name}-new", partitions=NEW_PARTITIONS)
    state_topic = f"{topic_name}-new-state"
    # 1. Producers write to the new topic, or to both.
    written = list(load.events(2_000))
    topics.produce(new_topic, written[:1_000])
    if both:
        topics.produce(topic_name, written[:1_000])
    # 2. The backup has everything that the old topic holds.
    digest(seend)
    back_up(seend, tmp_path / "backups")
    # 3. Records arrive while the state is resharded.
    reshard(kafka, new_topic, state_topic, from_=tmp_path / "backups")
    topics.produce(new_topic, written[1_000:])
    if both:
        topics.produce(topic_name, written[1_000:])
    # 4. Start the new daemons.
    new = resharded(daemon, new_topic, state_topic, "new").start()
    new.wait_at_rest()
    check(new, load)
    # 5. Publish every user's snapshot to the new topic.
    run("publish", "--all", "--http", new.url)
    load.oracle.check_published(topics, f"{new_topic}-new-filters", NEW_PARTITIONS)
    # 6. Stop the old daemons: nobody needs them.
    seend.stop()
    new.kill9()
    new.start()
    new.wait_at_rest()
    check(new, load)


def test_after_partitions_were_added_the_stopped_daemons_directory_travels(
    kafka, topics, old, daemon, topic_name, tmp_path
):
    seend, load = old
    added_at = now_ms()
    topics.add_partitions(topic_name, OLD_PARTITIONS + 1)
    refused = wait_until(
        lambda: [p for p in seend.partition_status().values() if p["state"] == "refused"],
        "it refuses one",
        60,
    )
    assert "seenctl reshard --dir" in refused[0]["reason"] and "--rebuild" not in refused[0]["reason"]
    shown = seend.seenctl("status", status=1)[0]
    assert f"{OLD_PARTITIONS} of {OLD_PARTITIONS} partitions here, 1 refused" in shown, shown
    for what in (["digest", "--wait"], ["backup", "--to", tmp_path / "backups"]):
        _, said = run(*what, "--http", seend.url, "--quiet", status=1)
        assert "seenctl reshard --dir" in said and "when the partition is ready" not in said, said
    load.send(topics, topic_name, 1_000)  # some to the added partition
    seend.stop()
    new_topic = topics.create(f"{topic_name}-new", partitions=NEW_PARTITIONS)
    reshard(kafka, new_topic, f"{topic_name}-new-state", dir=seend.store)
    again = {"from_topic": topic_name, "since": added_at, "topic": new_topic, "brokers": kafka.bootstrap}
    run("replay", "--quiet", timestamps="now", **again)
    new = resharded(daemon, new_topic, f"{topic_name}-new-state", "new").start()
    new.wait_at_rest()
    check(new, load)


def test_what_does_not_fit_is_refused(kafka, topics, old, topic_name, tmp_path):
    seend, _ = old
    new_topic = topics.create(f"{topic_name}-new", partitions=NEW_PARTITIONS)
    back_up(seend, tmp_path / "backups")
    state_topic = f"{topic_name}-new-state"
    _, said = reshard(kafka, topic_name, state_topic, status=2, from_=tmp_path / "backups")
    assert "--topic" in said
    wrong = topics.create(f"{topic_name}-wrong", partitions=2)
    _, said = reshard(kafka, wrong, state_topic, status=2, from_=tmp_path / "backups")
    assert "--partitions" in said and "has 2" in said
    _, said = reshard(kafka, new_topic, f"{topic_name}-state", status=1, from_=tmp_path / "backups")
    assert "--state-topic" in said and "Remedy" in said
    reshard(kafka, new_topic, state_topic, from_=tmp_path / "backups")
    _, said = reshard(kafka, new_topic, state_topic, status=1, from_=tmp_path / "backups")
    assert "has state" in said and "Remedy" in said
    seend.stop()
    (seend.store / "partition-1").rename(seend.store / "hidden")
    _, said = reshard(kafka, new_topic, f"{topic_name}-x", dir=seend.store, status=1)
    assert "partition 1 of 3 is missing" in said
    assert run_json("backup", "--to", tmp_path / "backups", "--list")


# What stands in the state topic when the tool is killed, of a run that writes `total` records: nothing, the
# first opening, all openings, half of the bases, and almost all of them.
MOMENTS = [
    lambda total: 0,
    lambda _: 1,
    lambda _: NEW_PARTITIONS,
    lambda n: n // 2,
    lambda n: n - NEW_PARTITIONS,
]


def kill_at(command, records, at_least):
    """Runs the command in slices until the topic has so many records, and kills it. A paused tool can't write
    on while the test reads the ends. Returns whether the tool was killed before its end."""
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while running.poll() is None and time.monotonic() < deadline:
            running.send_signal(signal.SIGSTOP)
            if records() >= at_least:
                break
            running.send_signal(signal.SIGCONT)
            time.sleep(0.003)
        running.send_signal(signal.SIGKILL)
    finally:
        running.communicate()
    return running.returncode == -signal.SIGKILL


def test_a_killed_reshard_is_finished_by_the_same_command(
    kafka, topics, daemon, topic_name, tmp_path, chance
):
    topics.create(topic_name, partitions=OLD_PARTITIONS)
    new_topic = topics.create(f"{topic_name}-new", partitions=NEW_PARTITIONS)
    oracle = Oracle()
    source = history(tmp_path / "history.jsonl", oracle, chance, 60_000, users=2_000)
    seend = daemon(topic_name)
    seend.config_path.write_text(json.dumps(seend.config))
    run("replay", source, "--config", seend.config_path, "--into-state", seend.store, "--whole", "--quiet")
    before = run_json("digest", "--dir", seend.store)
    (tmp_path / "before.json").write_text(json.dumps(before))

    def command(state_topic):
        into = ["--state-topic", state_topic, "--group", f"{state_topic}-group", "--quiet"]
        to = ["--brokers", kafka.bootstrap, "--topic", new_topic, "--partitions", str(NEW_PARTITIONS)]
        return [str(SEENCTL), "reshard", "--dir", str(seend.store), *to, *into]

    def records(state_topic):
        return sum(end for _, end in topics.ends(state_topic).values())

    run(*command(f"{topic_name}-alone")[1:])
    total = records(f"{topic_name}-alone")
    left_in_the_middle = 0
    for number, moment in enumerate(MOMENTS):
        state_topic = f"{topic_name}-{number}"
        killed = kill_at(command(state_topic), lambda: records(state_topic), moment(total))
        written = records(state_topic)
        left_in_the_middle += killed and 0 < written < total
        if killed and number % 2 == 1:  # killed again, a little later
            kill_at(command(state_topic), lambda: records(state_topic), written + NEW_PARTITIONS)
        done = subprocess.run(command(state_topic), capture_output=True, text=True, timeout=120)
        # A kill may come after the tool has written everything, just before its exit.
        assert done.returncode == 0 or "has state" in done.stderr, done.stderr
        new = resharded(daemon, new_topic, state_topic, f"new-{number}").start()
        new.wait_at_rest()
        assert new.log().count("state restored from the state topic") == NEW_PARTITIONS
        digest(new, "--expect", tmp_path / "before.json")
        oracle.check_http(new, users=oracle.users()[:50])
        new.stop()
    assert left_in_the_middle >= 3, "most kills came while the tool wrote"
