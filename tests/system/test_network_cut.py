"""A daemon loses the network to the brokers but not to clients, or the reverse."""

import time

from http_json import user_path
from load import Load
from faults import Network
from places import wait_until
from seend import wait_read_by, wait_routed
from test_many_daemons import PARTITIONS


def started(member, topics, tmp_path, count):
    members = [member(number) for number in range(count)]
    for one in members:
        one.network = Network(tmp_path, one.name, topics.bootstrap)
        one.environment = one.network.environment
        one.start(ready=False)
    return members


def test_a_daemon_cut_from_the_brokers_answers_with_its_age_and_publishes_nothing_old(
    topics, member, topic_name, tmp_path, chance
):
    topics.create(topic_name, partitions=PARTITIONS)
    members = started(member, topics, tmp_path, 2)
    load = Load(chance, users=40)
    load.send(topics, topic_name, 1_000)
    wait_routed(members)
    wait_read_by(members, topics, topic_name, published=True)
    cut, other = members
    had = cut.owned()
    cut.network.cut("brokers")
    load.send(topics, topic_name, 500)  # the daemon that is cut off doesn't get these
    wait_until(lambda: len(other.owned()) == PARTITIONS, "the other one has all partitions", 60)
    wait_read_by([other], topics, topic_name, published=True)
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
    wait_read_by(members, topics, topic_name, published=True)
    for m in members:
        load.oracle.check_http(m, users=load.oracle.users())
    time.sleep(3)  # the guard checks every two seconds
    wait_read_by(members, topics, topic_name, published=True)
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)


def test_a_daemon_cut_from_clients_alone_keeps_its_partitions_and_goes_on(
    topics, member, topic_name, tmp_path, chance
):
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
    wait_read_by(members, topics, topic_name, published=True)
    for m in members:
        load.oracle.check_http(m, users=load.oracle.users())
    load.oracle.check_published(topics, f"{topic_name}-filters", PARTITIONS)
