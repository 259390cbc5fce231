"""A daemon loses the network to the brokers but not to clients, or the reverse."""

import time

from http_json import user_path
from load import Load
from networks import Network
from places import wait_until
from test_many_daemons import PARTITIONS, member, owned, wait_routed  # noqa: F401  (member is a fixture)


def started(member, topics, tmp_path, count):
    members = [member(number) for number in range(count)]
    for one in members:
        one.network = Network(tmp_path, one.name, topics.bootstrap)
        one.environment = one.network.environment
        one.start(ready=False)
    return members


def wait_at_rest(members, topics, topic):
    ends = {p: end for p, (_, end) in topics.ends(topic).items()}

    def at_rest():
        status = {p: s for m in members for p, s in m.partition_status().items() if s["assigned"]}
        return set(status) == set(ends) and all(
            s["next_offset"] >= ends[p] and s["marks_outstanding"] == 0 for p, s in status.items()
        )

    wait_until(at_rest, "all is read and published", 60)


def test_a_daemon_cut_from_the_brokers_answers_with_its_age_and_publishes_nothing_old(
    topics, member, topic_name, tmp_path, chance
):  # noqa: F811
    topics.create(topic_name, partitions=PARTITIONS)
    members = started(member, topics, tmp_path, 2)
    load = Load(chance, users=40)
    load.send(topics, topic_name, 1_000)
    wait_routed(members)
    wait_at_rest(members, topics, topic_name)
    cut, other = members
    had = owned(cut)
    cut.network.cut("brokers")
    load.send(topics, topic_name, 500)  # the daemon that is cut off doesn't get these
    wait_until(lambda: len(owned(other)) == PARTITIONS, "the other one has all partitions", 60)
    wait_at_rest([other], topics, topic_name)
    # The daemon that is cut off gives no answer that is too old. The owner may answer for it.
    assert had
    for user in load.oracle.users():
        answer = cut.http.get(user_path(user) + "?max_age_ms=2000")
        assert answer.status in (200, 503), answer.text
        if answer.status == 200:
            assert answer.headers["Seen-Answered-By"] == "member-1", "passed on"
    wait_until(lambda: cut.metric_sum("seen_brokers_reachable") == 0, "it says that the brokers are away")
    cut.network.mend("brokers")
    wait_routed(members, 90)
    load.send(topics, topic_name, 200)
    wait_at_rest(members, topics, topic_name)
    for m in members:
        load.oracle.check_http(m, users=load.oracle.users())
    time.sleep(3)  # the guard checks every two seconds
    wait_at_rest(members, topics, topic_name)
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)


def test_a_daemon_cut_from_clients_alone_keeps_its_partitions_and_goes_on(
    topics, member, topic_name, tmp_path, chance
):  # noqa: F811
    topics.create(topic_name, partitions=PARTITIONS)
    members = started(member, topics, tmp_path, 2)
    load = Load(chance, users=40)
    load.send(topics, topic_name, 1_000)
    owners = wait_routed(members)
    cut, other = members
    cut.network.cut("others")
    load.send(topics, topic_name, 500)
    statuses = {other.http.get(user_path(user)).status for user in load.oracle.users()}
    assert statuses == {200, 503}, "the users of the one that is cut off get a reason"
    time.sleep(8)  # longer than a session, and no partition moves
    cut.network.mend("others")
    assert wait_routed(members) == owners
    wait_at_rest(members, topics, topic_name)
    for m in members:
        load.oracle.check_http(m, users=load.oracle.users())
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
