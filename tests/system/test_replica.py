"""Replicas are a second group of daemons. They keep the same state and answer, and write nothing until they
are promoted."""

import shutil
import time

from http_json import user_path
from load import Load
from places import wait_until
from seend import wait_read_by, wait_streamed
from test_many_daemons import Asker

PARTITIONS = 4


def wait_read(topics, topic, *members):
    """Waits until these members together have every partition, have read all of it, and answer."""
    wait_read_by(members, topics, topic)
    wait_until(
        lambda: all(s["answers"] for m in members for s in m.partition_status().values()), "they answer"
    )


def promote(seend):
    return seend.seenctl("promote")[0]


def role(seend):
    return seend.status()["role"]


def test_a_replica_answers_as_the_owner_does_and_writes_nothing(topics, member, topic_name, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    owner, replica = member("owner").start(), member("replica", replica=True).start()
    load = Load(chance, users=60)
    load.send(topics, topic_name, 2_000)
    topics.produce(topic_name, [(b"u1", b"{not json")])
    for one in (owner, replica):
        wait_read(topics, topic_name, one)
        load.oracle.check_http(one, users=load.oracle.users())
    assert (role(owner), role(replica)) == ("owner", "replica")
    assert replica.status()["owner_group"] == owner.group
    assert replica.http.get(user_path(load.oracle.users()[0])).headers["Seen-Answered-By"] == "replica"
    wait_until(
        lambda: len({(r["role"], r["instance"]) for r in owner.routes()}) == 2,
        "the owner knows of the replica",
    )
    owner.wait_at_rest()
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
    assert owner.metric_sum("seen_snapshots_total") > 0 == replica.metric_sum("seen_snapshots_sent_total")
    # The owner is gone. A record that is written from now on comes from the replica.
    owner.stop()
    before = [topics.end_offsets(f"{topic_name}-{name}") for name in ("filters", "beats", "dead", "state")]
    load.send(topics, topic_name, 500)
    topics.produce(topic_name, [(b"u1", b"{not json either")])
    wait_read(topics, topic_name, replica)
    load.oracle.check_http(replica, users=load.oracle.users())
    time.sleep(3)  # an owner writes checkpoints, runs and beats every second
    assert before == [
        topics.end_offsets(f"{topic_name}-{name}") for name in ("filters", "beats", "dead", "state")
    ]
    assert sum(before[2].values()) == 1, "one letter of the owner, none of the replica"
    assert replica.metric_sum("seen_snapshots_total") == 0


def test_no_request_waits_for_an_owner_that_is_away(topics, member, topic_name, chance):
    """The owner is paused or killed. A replica answers the requests that are passed on."""
    topics.create(topic_name, partitions=PARTITIONS)
    owners = [member(f"owner-{number}").start(ready=False) for number in range(2)]
    replica = member("replica", replica=True).start()
    load = Load(chance, users=60)
    load.send(topics, topic_name, 1_000)
    wait_until(
        lambda: all(len(o.partition_status()) == PARTITIONS / 2 for o in owners), "each owns a half", 60
    )
    wait_read(topics, topic_name, *owners)
    wait_read(topics, topic_name, replica)
    wait_until(
        lambda: len(owners[0].routes()) == 2 * PARTITIONS,
        "all routes are known",
    )
    with Asker(owners[0], load.oracle.users()) as asker:
        time.sleep(1)
        with owners[1].standing_still():
            time.sleep(3)
        owners[1].kill9()
        time.sleep(3)
    assert not asker.failures, asker.failures
    assert len(asker.longest) == len(load.oracle.users()), "each was asked about"
    with Asker(replica, load.oracle.users()) as asker:
        owners[0].kill9()
        time.sleep(3)
    assert not asker.failures, asker.failures


def test_a_promoted_replica_publishes_what_the_owner_left_and_gives_it_back(
    topics, member, topic_name, chance
):
    topics.create(topic_name, partitions=PARTITIONS)
    owner, replica = member("owner").start(), member("replica", replica=True).start()
    load = Load(chance, users=200)
    load.send(topics, topic_name, 2_000)
    owner.wait_at_rest()
    wait_read(topics, topic_name, replica)
    # The owner is paused, so it doesn't publish these events.
    with owner.standing_still():
        load.send(topics, topic_name, 2_000)
        topics.produce(topic_name, [(b"u1", b"{not json")])
        wait_read(topics, topic_name, replica)
        assert f"group {replica.group} is the owner now, instead of group {owner.group}" in promote(replica)
        assert role(replica) == "owner"
        replica.wait_at_rest()
        load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
        wait_until(lambda: sum(topics.end_offsets(f"{topic_name}-dead").values()) == 1, "the letter is sent")
    # The former owner continues, as a replica.
    wait_until(lambda: role(owner) == "replica", "the former owner has heard of it")
    wait_read(topics, topic_name, owner)
    load.send(topics, topic_name, 500)
    replica.wait_at_rest()
    wait_read(topics, topic_name, owner)
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
    load.oracle.check_http(owner, users=load.oracle.users())
    # After a kill and a lost disk it is a replica again, with state of the promoted group.
    wait_streamed([replica], topics.end_offsets(topic_name))
    owner.kill9()
    shutil.rmtree(owner.store)
    owner.start()
    assert role(owner) == "replica"
    assert "restored from the state topic" in owner.log()
    load.oracle.check_http(owner, users=load.oracle.users())
    promote(owner)
    assert role(owner) == "owner"
    wait_until(lambda: role(replica) == "replica", "the replica has heard of it")
    load.send(topics, topic_name, 500)
    owner.wait_at_rest()
    wait_read(topics, topic_name, replica)
    for one in (owner, replica):
        load.oracle.check_http(one, users=load.oracle.users())
        assert one.metric_sum("seen_snapshots_foreign_total") == 0
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)


def test_the_last_role_outlives_the_topic_of_the_cluster(topics, member, topic_name):
    topics.create(topic_name, partitions=1)
    owner, replica = member("owner").start(), member("replica", replica=True).start()
    wait_read(topics, topic_name, owner)
    wait_read(topics, topic_name, replica)
    promote(replica)
    wait_until(lambda: role(owner) == "replica", "the former owner has heard of it", 60)
    owner.stop()
    replica.stop()
    topics.delete(f"{topic_name}-beats-cluster")
    replica.start(ready=False)
    owner.start(ready=False)

    def trouble(seend):
        said = [t for t in (seend.status() or {}).get("troubles", []) if "has lost its promotions" in t]
        return said[0] if said else None

    for one in (replica, owner):
        said = wait_until(lambda one=one: trouble(one), "it says that the promotions are lost", 60)
        assert (
            f'group "{replica.group}" owns' in said and f'by the configuration, "{owner.group}" would' in said
        )
    assert (role(replica), role(owner)) == ("owner", "replica")
    replica.wait_ready()
    promote(replica)
    wait_until(lambda: not trouble(replica) and not trouble(owner), "the topic has the promotion again", 60)
    assert (role(replica), role(owner)) == ("owner", "replica")
