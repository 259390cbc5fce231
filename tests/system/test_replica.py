"""Replicas are a second group of daemons. They keep the same state and answer, and write nothing until they
are promoted."""

import shutil
import subprocess
import time

import pytest
from http_json import user_path
from load import Load
from places import SEENCTL, wait_until
from seend import wait_streamed
from test_many_daemons import SESSION, Asker

PARTITIONS = 4


@pytest.fixture
def make(daemon, topic_name):
    """make(name, replica=False, **more) -> Seend, not started: a member of the owners' group, or a replica of
    that group."""

    def one(name, replica=False, **more):
        group = {"group_id": f"{topic_name}-zone-b"} if replica else {}
        role = {"role": "replica", "replica_of": f"{topic_name}-group"} if replica else {}
        return daemon(
            topic_name,
            {
                **role,
                "kafka": {"instance_id": name, "client": SESSION, **group},
                "state": {"topic": f"{topic_name}-state", "run_every_s": 1},
                "watermarks": {"topic": f"{topic_name}-beats"},
                "cluster": {"peers": "127.0.0.0/8", "token": "a-token-of-theirs"},
                **more,
            },
            name=name,
        )

    return one


def wait_read(topics, topic, *members):
    """Waits until these members together have every partition, have read all of it, and answer."""
    ends = {p: end for p, (_, end) in topics.ends(topic).items()}
    wait_until(
        lambda: (
            all(
                status["next_offset"] >= ends[p] and status["answers"]
                for m in members
                for p, status in m.partition_status().items()
            )
            and {p for m in members for p in m.partition_status()} == set(ends)
        ),
        "all is read",
    )


def ends_of(topics, topic):
    return {p: end for p, (_, end) in topics.ends(topic).items()}


def promote(seend):
    done = subprocess.run(
        [str(SEENCTL), "promote", "--http", f"http://{seend.address}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def role(seend):
    return seend.status()["role"]


def test_a_replica_answers_as_the_owner_does_and_writes_nothing(topics, make, topic_name, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    owner, replica = make("owner").start(), make("replica", replica=True).start()
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
        lambda: len({(r["role"], r["instance"]) for r in owner.http.get("/v1/routes").json()["routes"]}) == 2,
        "the owner knows of the replica",
    )
    owner.wait_at_rest()
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
    assert owner.metric_sum("seen_snapshots_total") > 0 == replica.metric_sum("seen_snapshots_sent_total")
    # The owner is gone. A record that is written from now on comes from the replica.
    owner.stop()
    before = [ends_of(topics, f"{topic_name}-{name}") for name in ("filters", "beats", "dead", "state")]
    load.send(topics, topic_name, 500)
    topics.produce(topic_name, [(b"u1", b"{not json either")])
    wait_read(topics, topic_name, replica)
    load.oracle.check_http(replica, users=load.oracle.users())
    time.sleep(3)  # an owner writes checkpoints, runs and beats every second
    assert before == [
        ends_of(topics, f"{topic_name}-{name}") for name in ("filters", "beats", "dead", "state")
    ]
    assert sum(before[2].values()) == 1, "one letter of the owner, none of the replica"
    assert replica.metric_sum("seen_snapshots_total") == 0


def test_no_request_waits_for_an_owner_that_is_away(topics, make, topic_name, chance):
    """The owner is paused or killed. A replica answers the requests that are passed on."""
    topics.create(topic_name, partitions=PARTITIONS)
    owners = [make(f"owner-{number}").start(ready=False) for number in range(2)]
    replica = make("replica", replica=True).start()
    load = Load(chance, users=60)
    load.send(topics, topic_name, 1_000)
    wait_until(
        lambda: all(len(o.partition_status()) == PARTITIONS / 2 for o in owners), "each owns a half", 60
    )
    wait_read(topics, topic_name, *owners)
    wait_read(topics, topic_name, replica)
    wait_until(
        lambda: len(owners[0].http.get("/v1/routes").json()["routes"]) == 2 * PARTITIONS,
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


def test_a_promoted_replica_publishes_what_the_owner_left_and_gives_it_back(topics, make, topic_name, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    owner, replica = make("owner").start(), make("replica", replica=True).start()
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
        wait_until(lambda: sum(ends_of(topics, f"{topic_name}-dead").values()) == 1, "the letter is sent")
    # The former owner continues, as a replica.
    wait_until(lambda: role(owner) == "replica", "the former owner has heard of it")
    wait_read(topics, topic_name, owner)
    load.send(topics, topic_name, 500)
    replica.wait_at_rest()
    wait_read(topics, topic_name, owner)
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
    load.oracle.check_http(owner, users=load.oracle.users())
    # After a kill and a lost disk it is a replica again, with state of the promoted group.
    wait_streamed([replica], ends_of(topics, topic_name))
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
