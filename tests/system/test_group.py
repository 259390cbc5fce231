"""Several daemons of one group, each with its own store directory. If one loses partitions, the others take
them. Added partitions are consumed, even if the group would give a member its old assignment back."""

import shutil

from confluent_kafka import Consumer
from hashes import partition_of
from http_json import user_path
from load import Load, one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until
from seend import SESSION, wait_read_by

PARTITIONS = 6


def member(daemon, topic_name, number):
    kafka = {"instance_id": f"member-{number}", "client": SESSION}
    return daemon(topic_name, {"kafka": kafka}, name=f"member-{number}")


def wait_all_owned(members, timeout_s=60):
    """Waits until each member owns some partitions, and no other member has them open. For a second or more,
    the owner before answers too."""

    def each_once():
        partitions = [m.partition_status() for m in members]
        states = sorted((p, s["state"]) for of in partitions for p, s in of.items())
        return all(partitions) and states == [(p, "ready") for p in range(PARTITIONS)]

    wait_until(each_once, "the members own every partition, each once", timeout_s)


def check_all_users(load, members):
    """Checks that exactly one member answers for each user, with all that the user has seen."""
    answered = {
        m: [u for u in load.oracle.users() if m.http.get(user_path(u)).status == 200] for m in members
    }
    assert sorted(u for users in answered.values() for u in users) == sorted(load.oracle.users())
    for m, users in answered.items():
        load.oracle.check_http(m, users=users)


def test_after_kill_9_of_one_the_others_go_on_and_read_its_partitions_again(
    topics, daemon, topic_name, chance
):
    topics.create(topic_name, partitions=PARTITIONS)
    members = [member(daemon, topic_name, number).start(ready=False) for number in range(3)]
    load = Load(chance, users=60)
    load.send(topics, topic_name, 3_000)
    wait_all_owned(members)
    group = members[0].group
    wait_until(lambda: len(topics.committed(group, topic_name)) == PARTITIONS, "every partition is committed")
    members[2].kill9()
    left = members[:2]
    load.send(topics, topic_name, 500)
    wait_all_owned(left)
    for m in left:
        m.wait_ready()
        assert m.metric_sum("seen_partitions_refused") == 0
    wait_read_by(left, topics, topic_name)
    check_all_users(load, left)
    assert any("state is missing" in m.log() for m in left)


def test_a_second_daemon_joins_an_established_group(topics, daemon, topic_name, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    first = member(daemon, topic_name, 1).start()
    load = Load(chance, users=60)
    load.send(topics, topic_name, 2_000)
    first.wait_at_rest()
    second = member(daemon, topic_name, 2).start(ready=False)
    wait_all_owned([first, second])
    check_all_users(load, [first, second])
    for m in (first, second):
        assert m.alive()


def test_a_partition_that_is_refused_keeps_no_other_from_being_read(topics, started, topic_name, chance):
    """Partition 1 is refused, because its directory is a copy of partition 0's."""
    seend = started()
    load = Load(chance, users=40)
    load.send(topics, topic_name, 400)
    seend.wait_at_rest()
    seend.stop()
    shutil.rmtree(seend.store / "partition-1")
    shutil.copytree(seend.store / "partition-0", seend.store / "partition-1")
    seend.start()
    refused = seend.partition_status()[1]
    assert refused["state"] == "refused" and "--rebuild" in refused["reason"], refused
    ready = seend.get("/readyz")
    assert ready.status == 200 and 'partition 1 of "' in ready.text and "is refused" in ready.text
    assert seend.metric_sum("seen_partitions_refused") == 1
    answers = {u: seend.http.get(user_path(u)) for u in load.oracle.users()}
    turned_away = [u for u, answer in answers.items() if answer.status == 503]
    assert turned_away and "refused" in answers[turned_away[0]].text
    load.oracle.check_http(seend, users=[u for u in answers if u not in turned_away])
    seend.stop()


def test_a_daemon_that_is_fenced_joins_again(topics, daemon, topic_name, kafka):
    """A daemon that repeats its join request, because a broker went away, looks to the group like another
    process."""
    topics.create(topic_name, partitions=PARTITIONS)
    seend = member(daemon, topic_name, 1).start()
    other = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "group.id": seend.group,
            "group.instance.id": "member-1",
            "partition.assignment.strategy": "range",
            "session.timeout.ms": 6000,
        }
    )
    other.subscribe([topic_name])
    wait_until(lambda: other.poll(0.1) or "joining again" in seend.log(), "it is fenced")
    wait_until(lambda: len(seend.owned()) == PARTITIONS, "it owns all again", 60)
    other.close()
    assert seend.alive()


def test_of_two_daemons_with_one_instance_id_one_gives_up(topics, daemon, topic_name):
    topics.create(topic_name, partitions=PARTITIONS)
    same = {"kafka": {"instance_id": "the-same", "client": SESSION}}
    pair = [daemon(topic_name, same, name=f"one-of-two-{n}").start(ready=False) for n in range(2)]
    ended = wait_until(
        lambda: [m for m in pair if m.process.poll() is not None], "one ends", 60
    )  # it ends by itself
    assert len(ended) == 1 and ended[0].wait_exit() == 3
    assert 'with the same instance id "the-same"' in ended[0].log().replace("\\", "")
    stays = next(m for m in pair if m is not ended[0])
    wait_until(lambda: len(stays.owned()) == PARTITIONS, "the other owns all", 60)


def test_a_store_keeps_the_name_of_its_daemon(topics, daemon, topic_name):
    """A recreated container has another host name. A directory that was moved stands for that here:
    both are in the name that a daemon makes."""
    topics.create(topic_name, partitions=PARTITIONS)
    patient = {"kafka": {"client": {"session.timeout.ms": "300000"}}}  # longer than the waits below
    seend = daemon(topic_name, patient).start()
    name = seend.status()["instance_id"]
    wait_until(lambda: len(seend.owned()) == PARTITIONS, "it owns all", 120)
    seend.stop()
    moved = seend.store.rename(seend.store.with_name("moved"))
    again = daemon(topic_name, {**patient, "store": {"directory": str(moved)}})
    again.start()
    assert again.status()["instance_id"] == name
    wait_until(
        lambda: len(again.owned()) == PARTITIONS, "it owns all, and needn't wait for a session to end", 120
    )
    again.stop()
    copied = shutil.copytree(moved, moved.with_name("copied"))
    assert (copied / "instance").read_text() == f"{name}\n"
    (copied / "instance").unlink()
    new = daemon(topic_name, {**patient, "store": {"directory": str(copied)}}).start(ready=False)
    # It isn't ready for long: the group waits for the one that stopped.
    assert wait_until(lambda: (new.status() or {}).get("instance_id"), "it has a name", 120) != name


def test_of_two_daemons_of_one_copied_store_one_stops_and_says_why(topics, daemon, topic_name):
    topics.create(topic_name, partitions=PARTITIONS)
    one = daemon(topic_name, {"kafka": {"client": SESSION}}, name="one").start()
    name = one.status()["instance_id"]
    wait_until(lambda: len(one.owned()) == PARTITIONS, "it owns all")
    one.stop()
    two = daemon(topic_name, {"kafka": {"client": SESSION}}, name="two")
    shutil.copytree(one.store, two.store)
    pair = [one.start(ready=False), two.start(ready=False)]
    ended = wait_until(lambda: [m for m in pair if m.process.poll() is not None], "one ends by itself", 90)
    assert len(ended) == 1 and ended[0].wait_exit() == 3
    said = ended[0].log().replace("\\", "")
    assert f'with the same instance id "{name}"' in said
    assert 'store.directory is a copy of the other\'s, remove its file "instance"' in said


CLIENT = {"topic.metadata.refresh.interval.ms": "1000"}


def test_added_partitions_of_a_source_are_consumed_after_a_restart_within_the_session(
    topics, started, topic_name
):
    seend = started({"kafka": {"client": CLIENT}, "input": {"keyed_by_user": False}}, partitions=2)
    oracle = Oracle()
    topics.produce(topic_name, one_by_one(oracle, [("u1", "n1")]))
    seend.wait_rekeyed()
    seend.stop()  # a static member: the group keeps its assignment for the session
    topics.add_partitions(topic_name, 5)
    seend.start(ready=False)
    at = now_ms()
    records = []
    for partition in range(5):
        oracle.add(f"user-{partition}", "item", at)
        records.append(
            (f"user-{partition}", event(f"user-{partition}", "item", at), {"partition": partition})
        )
    topics.produce(topic_name, records)
    wait_until(
        lambda: set(topics.committed(f"{seend.group}-rekey", topic_name)) == set(range(5)),
        "all partitions of the source are read",
        60,
        every_s=0.5,
    )
    seend.wait_at_rest()
    oracle.check_http(seend)


def test_a_partition_that_is_added_while_a_daemon_opens_its_partitions(topics, daemon, topic_name):
    """librdkafka then joins the group again and revokes nothing. The second assignment must replace the
    first."""
    kept = 48  # opening so many takes longer than adding one
    topics.create(topic_name, partitions=kept)
    seend = daemon(topic_name, {"kafka": {"client": {"topic.metadata.refresh.interval.ms": "20"}}}).start(
        ready=False
    )
    wait_until(lambda: "partitions assigned" in seend.log(), "the daemon opens its partitions", every_s=0.002)
    topics.add_partitions(topic_name, kept + 1)
    seend.wait_refused([kept])
    at = now_ms()
    topics.produce(
        topic_name,
        [
            (f"user-{i}", event(f"user-{i}", "item", at), {"partition": partition_of(f"user-{i}", kept)})
            for i in range(500)
        ],
    )
    seend.wait_caught_up()
    assert "partition can't be opened yet" not in seend.log(), "nothing is open twice"
    assert {p: s["state"] for p, s in seend.partition_status().items() if p < kept} == dict.fromkeys(
        range(kept), "ready"
    )
