"""docs/RESHARD.md, step by step: state moves to a topic with more partitions, and nothing is lost."""

import json

import pytest
from load import Load
from oracle import DAY_MS, event
from places import now_ms
from seenctl_tool import digest, run, run_json
from seend import one_filter

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
