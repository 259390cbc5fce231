"""Three brokers with replicated topics. A test kills one broker after the other. Other tests elect a leader
that lacks records of the last one."""

import time

import pytest
from chaos import Asker, LiveLoad
from kafka_broker import Kafka
from oracle import Oracle
from places import free_port, wait_until, wait_until_none

from topics import Topics

PARTITIONS = 4


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    controllers = {node: free_port() for node in (1, 2, 3)}
    nodes = []
    for node in controllers:
        nodes.append(Kafka(tmp_path_factory.mktemp(f"broker-{node}"), node, controllers, heap="320m"))
    for node in nodes:
        node.start(wait=False)
    for node in nodes:
        node.wait_ready()
    yield nodes
    for node in nodes:
        node.kill()


@pytest.fixture
def brokers(cluster):
    """The nodes of the cluster. A test may kill them, and the next one has all of them."""
    yield cluster
    for node in cluster:
        if node.process is None:
            node.start()


@pytest.fixture
def three(brokers):
    return Topics(",".join(node.bootstrap for node in brokers))


def members_of(member, topics, count=2):
    more = {"kafka": {"client": {"topic.metadata.refresh.interval.ms": "2000"}}}
    return [member(number, at=topics, **more).start(ready=False) for number in range(count)]


def ready(members):
    return sorted(p for m in members for p, s in m.partition_status().items() if s["state"] == "ready")


def wait_at_rest(members, topics, topic):
    ends = topics.end_offsets(topic)

    def unrest():
        states = [(p, s) for m in members for p, s in m.partition_status().items()]
        found = [f"a former owner still answers for partition {p}" for p, s in states if not s["assigned"]]
        status = {p: s for p, s in states if s["state"] == "ready"}
        found += [f"partition {p} isn't ready" for p in set(ends) - set(status)]
        for p, s in status.items():
            if s["next_offset"] < ends[p]:
                found.append(f"partition {p} is at {s['next_offset']} of {ends[p]}")
            if s["marks_outstanding"]:
                found.append(f"partition {p} has {s['marks_outstanding']} users to publish")
            if s["republish"]["sweeping"] or s["republish"]["all_requested"]:
                found.append(f"partition {p} republishes: {s['republish']}")
        return found

    wait_until_none(unrest, "all is read and published", 120)


def elect(node, kind, *of):
    """Asks for an election. Returns what the tool says."""
    return node.tool(
        "org.apache.kafka.tools.LeaderElectionCommand",
        "--bootstrap-server",
        node.bootstrap,
        "--election-type",
        kind,
        *of,
        check=False,
    )


def elect_preferred(node, topics, topic):
    """Moves the leaders of all topics back. No connection is lost by that."""

    def elected():
        elect(node, "preferred", "--all-topic-partitions")
        return all(leader == preferred for leader, preferred in topics.leaders(topic).values())

    wait_until(elected, "the preferred replicas lead", 60)


def elect_unclean(node, topic):
    """Makes `node`, which lacks records of the last leader, the leader of partition 0."""
    wait_until(
        lambda: "Successfully completed" in elect(node, "unclean", "--topic", topic, "--partition", "0"),
        "the other replica leads",
        60,
    )


@pytest.mark.heavy
def test_a_broker_after_the_other_is_killed_and_nothing_is_lost(brokers, three, member, topic_name, chance):
    three.create(topic_name, partitions=PARTITIONS, replicas=3, **{"min.insync.replicas": "2"})
    members = members_of(member, three)
    wait_until(lambda: ready(members) == list(range(PARTITIONS)), "each partition is owned", 90)
    oracle = Oracle()
    with (
        LiveLoad(three, topic_name, oracle, chance.random(), PARTITIONS, rate=200) as load,
        Asker(members, load, PARTITIONS, chance.random()) as asker,
    ):
        for node in brokers:
            node.kill()
            time.sleep(5)
            node.start()
            # Two brokers that lack records at once would refuse acks=all: that isn't this test's fault.
            wait_until_none(three.out_of_sync, "the broker has all records again", 180)
        assert not asker.wrong, asker.wrong[:5]
    assert not load.failed and asker.checked > 100
    wait_at_rest(members, three, topic_name)
    for member in members:
        oracle.check_http(member, users=oracle.users()[:60], strangers=3)
        assert all(s["lost_ranges"] == [] for s in member.partition_status().values())
    published = f"{topic_name}-filters"
    snapshots = oracle.check_published(three, published, PARTITIONS)
    # The daemons find the new leaders of the snapshot topic: they still notice what somebody else writes.
    elect_preferred(brokers[0], three, published)
    time.sleep(5)  # longer than two looks at the topic's ends
    users = oracle.users()[:20]
    noticed = lambda: sum(m.metric_sum("seen_snapshots_foreign_total") for m in members)  # noqa: E731
    before = noticed()  # a member that lost a partition may have sent some late
    three.produce(published, [(user, snapshots[users[-1]]) for user in users[:-1]], "murmur2")
    wait_until(lambda: noticed() >= before + len(users) - 1, "they are noticed", 60)
    wait_at_rest(members, three, topic_name)
    oracle.check_published(three, published, PARTITIONS)


@pytest.mark.heavy
@pytest.mark.parametrize("session_too", [False, True], ids=["log", "log_and_session"])
def test_what_an_unclean_election_cuts_off_the_snapshots_is_published_again(
    brokers, three, member, topic_name, chance, session_too
):
    """The leader of the snapshot topic has records that the other replica never got. It dies, and the other
    replica leads. If that one coordinates the group as well, the daemon loses its session while its snapshots
    wait for the replica."""
    three.create(topic_name, partitions=1, replicas=3)
    three.create(f"{topic_name}-elsewhere", partitions=1, replicas=3)
    three.commit(f"{topic_name}-group", f"{topic_name}-elsewhere", {0: 0})
    coordinator = three.coordinator(f"{topic_name}-group") - 1
    leader, other, follower = (brokers[(coordinator + i) % 3] for i in (1, 2, 3))
    if not session_too:
        follower = other
    three.create(
        f"{topic_name}-filters",
        assignment=[[leader.node, follower.node]],
        **{"cleanup.policy": "compact", "min.insync.replicas": "1"},
    )
    members = members_of(member, three, 1)
    oracle = Oracle()

    def load_for(seconds):
        with LiveLoad(three, topic_name, oracle, chance.random(), 1, users=60, rate=200):
            time.sleep(seconds)

    wait_until(lambda: ready(members) == [0], "the partition is owned", 90)
    load_for(2)
    wait_at_rest(members, three, topic_name)
    follower.kill()
    load_for(3)  # the leader alone has it
    wait_at_rest(members, three, topic_name)
    leader.kill()
    follower.start()
    elect_unclean(follower, f"{topic_name}-filters")
    leader.start()
    wait_until(
        lambda: members[0].metric_sum("seen_snapshot_partitions_cut_total") > 0,
        "the daemon has seen the cut",
        60,
    )
    load_for(1)
    wait_at_rest(members, three, topic_name)
    oracle.check_published(three, f"{topic_name}-filters", 1)
    oracle.check_http(members[0], users=oracle.users(), strangers=3)


@pytest.mark.heavy
def test_a_leader_that_has_just_died_holds_up_its_own_partition_alone(
    brokers, three, member, topic_name, chance
):
    """A daemon starts before the cluster knows that a broker is down. Metadata still name it as a leader."""
    three.create(f"{topic_name}-elsewhere", partitions=1, replicas=3)
    three.commit(f"{topic_name}-group", f"{topic_name}-elsewhere", {0: 0})
    coordinator = three.coordinator(f"{topic_name}-group") - 1
    alive, dying = brokers[coordinator], brokers[(coordinator + 1) % 3]
    three.create(topic_name, assignment=[[dying.node], [alive.node]])
    member = members_of(member, three, 1)[0]
    wait_until(lambda: ready([member]) == [0, 1], "both partitions are owned", 90)
    oracle = Oracle()
    with LiveLoad(three, topic_name, oracle, chance.random(), 2, users=60, rate=200):
        time.sleep(1)
    wait_at_rest([member], three, topic_name)
    member.stop()
    dying.kill()
    member.start(ready=False)
    wait_until(lambda: ready([member]) == [1], "the partition of the broker that is up is open", 60)
    wait_until(
        lambda: f"{topic_name}/0" in member.status()["not_ready_reason"],
        "the status names the partition that waits",
        30,
    )
    dying.start()
    wait_until(lambda: ready([member]) == [0, 1], "both partitions are owned", 90)
    wait_at_rest([member], three, topic_name)
    oracle.check_http(member, users=oracle.users(), strangers=3)


@pytest.mark.heavy
def test_what_an_unclean_election_cuts_off_the_input_is_shown_and_harms_its_partition_alone(
    brokers, three, member, topic_name, chance
):
    three.create(topic_name, assignment=[[1, 2], [3, 2]], **{"min.insync.replicas": "1"})
    member = members_of(member, three, 1)[0]
    oracle = Oracle()

    def load_for(seconds, partitions):
        with LiveLoad(three, topic_name, oracle, chance.random(), partitions, users=60, rate=200):
            time.sleep(seconds)
        wait_at_rest([member], three, topic_name)

    wait_until(lambda: ready([member]) == [0, 1], "both partitions are owned", 90)
    load_for(2, 2)
    leader, follower = brokers[0], brokers[1]
    follower.kill()
    kept = three.ends(topic_name)[0][1]
    load_for(3, 2)  # the leader alone has it
    read = three.ends(topic_name)[0][1]
    assert read > kept
    leader.kill()
    follower.start()
    elect_unclean(follower, topic_name)
    leader.start()
    wait_until(lambda: member.status()["partitions_refused"], "the daemon has seen the cut", 60)
    refused = member.status()["partitions_refused"]
    assert [r["partition"] for r in refused] == [0]
    assert (
        f"was read up to offset {read}, but it ends at {kept}" in refused[0]["reason"]
    )  # it shows how many were lost
    assert "--rebuild" in refused[0]["reason"]
    assert member.metric_sum("seen_partitions_refused") == 1
    assert ready([member]) == [1]
