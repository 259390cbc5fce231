"""Several daemons of one group are one service: each answers for any user. If one loses partitions, the
others take them."""

import json
import shutil
import time

import pytest
from faults import clock_ahead
from http_json import Http, user_path
from load import Aside, Load, one_by_one
from hashes import partition_of
from places import wait_until
from seenctl_tool import run_json
from seend import SESSION, wait_read_by, wait_routed, wait_streamed
from test_broker_outage import as_of

PARTITIONS = 6


@pytest.fixture
def routed(topics, member, topic_name, chance):
    """routed(count, users, events) -> (members, load): all is owned, and every member knows the owners."""

    def make(count, users=60, events=2_000):
        topics.create(topic_name, partitions=PARTITIONS)
        members = [member(number).start(ready=False) for number in range(count)]
        load = Load(chance, users=users)
        load.send(topics, topic_name, events)
        wait_routed(members)
        return members, load

    return make


def test_any_daemon_answers_for_any_user(topics, routed, topic_name):
    members, load = routed(3)
    wait_read_by(members, topics, topic_name)
    answered_by = set()
    for m in members:
        for user in load.oracle.users():
            answer = m.http.get(user_path(user))
            assert answer.status == 200, answer.text
            answered_by.add((m.name, answer.headers["Seen-Answered-By"]))
        load.oracle.check_http(m, users=load.oracle.users())
    assert len(answered_by) == 9, "each passes on to each other, and answers for itself"
    assert sum(m.metric_sum("seen_forwarded_requests_total") for m in members) > 0
    for route in members[0].routes():
        direct = next(m for m in members if m.address == route["address"])
        assert route["partition"] in direct.owned(), "a client that asks there saves the hop"


def test_verify_asks_any_daemon_about_what_all_have(routed):
    members, load = routed(2)
    for m in members:
        result = run_json("verify", "--snapshots", config=m.config_path, http=m.url)
        assert result["ok"] and result["users"] == len(load.oracle.users()), result


def test_a_daemon_passes_on_only_where_it_may(topics, member, topic_name, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    strict = member(0, cluster={"peers": "10.0.0.0/8"})
    other = member(1, cluster={"token": "another-token"})
    members = [m.start(ready=False) for m in (strict, other)]
    load = Load(chance, users=30)
    load.send(topics, topic_name, 300)
    wait_routed(members)
    theirs = [u for u in load.oracle.users() if strict.http.get(user_path(u)).status == 503]
    assert theirs, "the other daemon isn't among its peers"
    assert strict.metric_sum("seen_forwarded_requests_total") == 0
    ours = [u for u in load.oracle.users() if u not in theirs]
    answer = other.http.get(user_path(ours[0]))
    assert answer.status == 403 and "cluster.token" in answer.text, "it has another token"


def test_a_request_that_is_passed_on_is_its_clients_as_if_it_had_asked_the_owner(
    topics, member, topic_name, chance
):
    """Of five clients, each asks less than it may. The daemon that passes their requests on is no client."""
    topics.create(topic_name, partitions=PARTITIONS)
    asked, owner = (member(number).start(ready=False) for number in range(2))
    load = Load(chance, users=30)
    load.send(topics, topic_name, 300)
    wait_routed([asked, owner])

    def answered_by(user):
        return asked.http.get(user_path(user)).headers["Seen-Answered-By"]

    theirs = next(u for u in load.oracle.users() if answered_by(u) == owner.name)
    whole = asked.http.get(user_path(theirs))
    head = asked.http.request("HEAD", user_path(theirs))
    assert head.headers["Seen-Answered-By"] == owner.name and head.body == b""
    assert head.headers["Content-Length"] == whole.headers["Content-Length"] != "0"
    owner.config["http"]["client_requests_per_s_max"] = 60
    owner.write_config()
    owner.seenctl("config", "reload")
    statuses = []
    for client in range(5):
        http = Http(asked.address, source=f"127.0.0.{20 + client}")

        def status_of(http=http):  # a busy machine may answer 503 for a moment
            return (status := http.get(user_path(theirs)).status) != 503 and status

        statuses += [wait_until(status_of, "it is passed on", 60, every_s=0.2) for _ in range(50)]
        http.close()
    assert statuses == [200] * 250
    # Without the cluster's token, a name counts for nothing. A slow machine reaches this limit, too.
    owner.config["http"]["client_requests_per_s_max"] = 5
    owner.write_config()
    owner.seenctl("config", "reload")
    stranger = Http(owner.address, source="127.0.0.30")
    names = ({"Seen-Client": f"127.0.{n // 250}.{n % 250 + 1}"} for n in range(5_000))
    assert any(stranger.request("GET", "/healthz", None, name).status == 429 for name in names)
    stranger.close()


def test_a_daemon_whose_clock_is_behind_asks_the_owner_how_far_a_change_must_reach(
    topics, member, topic_name, chance
):
    topics.create(topic_name, partitions=PARTITIONS)
    asked, owner = (member(number) for number in range(2))
    asked.environment = clock_ahead(asked.directory, -25)
    for one in (asked, owner):
        one.start(ready=False)
    load = Load(chance, users=30)
    load.send(topics, topic_name, 600)
    wait_routed([asked, owner])
    wait_read_by([asked, owner], topics, topic_name)
    users = load.oracle.users()
    theirs = [u for u in users if asked.http.get(user_path(u)).headers.get("Seen-Answered-By") == owner.name]
    erased, partly = theirs[:2]
    items, others = (sorted(load.oracle.items(user)) for user in (erased, partly))
    some = others[:1]
    assert owner.unseen(erased, items) == [] and owner.unseen(partly, others) == []
    patient = {"Seen-Deadline-Ms": "10000", "Content-Type": "application/json"}
    body = json.dumps({"items": some}).encode()
    for method, path, sent in (("DELETE", erased, None), ("POST", f"{partly}/removed", body)):
        answer = asked.http.request(method, f"/v1/users/{path}", sent, patient)
        assert answer.status == 202 and "Seen-As-Of" in answer.headers
    wait_until(lambda: owner.unseen(erased, items) == items, "the user is erased", 60)
    wait_until(lambda: owner.unseen(partly, others) == some, "the item is taken back", 60)
    topics.produce(topic_name, one_by_one(load.oracle, [(erased, items[0]), (partly, some[0])]))
    wait_until(lambda: owner.unseen(erased, items) == items[1:], "what is shown later counts", 60)
    wait_until(lambda: owner.unseen(partly, others) == [], "what is shown later counts", 60)


def test_what_a_killed_daemon_had_the_others_restore(kafka, topics, routed, topic_name):
    """Its disk is lost, and the input topic no longer has the records of its state."""
    members, load = routed(3, events=3_000)
    group = members[0].group
    ends = wait_read_by(members, topics, topic_name)
    wait_streamed(members, ends)
    wait_until(lambda: topics.committed(group, topic_name) == ends, "all is committed")
    kafka.delete_records(topic_name, ends)
    members[2].kill9()
    shutil.rmtree(members[2].store)
    left = members[:2]
    wait_routed(left)
    for m in left:
        load.oracle.check_http(m, users=load.oracle.users())
        for status in m.partition_status().values():
            assert status["lost_ranges"] == [], status
    assert any("state restored from the state topic" in m.log() for m in left)


class Asker(Aside):
    """Asks one daemon about every user in turn, inside its `with` block. Records how long each user went
    unanswered."""

    def __init__(self, seend, users):
        self.seend, self.users = seend, users
        self.longest, self.failures = {}, {}
        super().__init__()

    def run(self):
        asked = Http(self.seend.address)
        answered = dict.fromkeys(self.users, time.monotonic())
        while not self.stop.is_set():
            for user in self.users:
                try:
                    answer = asked.get(user_path(user))
                    status, text = answer.status, answer.text if answer.status != 200 else ""
                except OSError as error:
                    status, text = 0, repr(error)
                now = time.monotonic()
                if status == 200:
                    gap = now - answered[user]
                    self.longest[user] = max(self.longest.get(user, 0), gap)
                    answered[user] = now
                else:
                    self.failures[text] = self.failures.get(text, 0) + 1
            time.sleep(0.005)


def test_a_daemon_that_joins_leaves_nobody_without_an_answer(topics, member, routed, topic_name):
    """The former owner of a partition answers until the new owner does."""
    members, load = routed(2)
    wait_read_by(members, topics, topic_name)
    with Asker(members[0], load.oracle.users()) as asker:
        third = member(2).start(ready=False)
        wait_routed([*members, third])
        time.sleep(2)
    # Each request that nobody answered is a failure, no matter how short the gap was.
    assert not asker.failures, asker.failures
    assert any("partition goes on" in m.log() for m in members), "what stayed wasn't opened again"
    for m in (*members, third):
        load.oracle.check_http(m, users=load.oracle.users())


@pytest.mark.parametrize("has_state_topic", [True, False], ids=["restoring", "reading"])
def test_a_daemon_that_joins_and_takes_long_leaves_nobody_without_an_answer(
    kafka, topics, member, routed, topic_name, chance, has_state_topic
):
    """Brokers send slowly, so that the new owner isn't ready for longer than any beat counts. Each daemon passes
    requests on to the former owners."""
    members, load = routed(2, users=3_000, events=200_000)
    ends = wait_read_by(members, topics, topic_name)
    wait_streamed(members, ends)
    third = member(2)
    third.config["kafka"]["client"] = {**SESSION, "client.id": topic_name}
    third.config["http"]["ready_lag_messages"] = 10
    if not has_state_topic:
        third.config["state"]["topic"] = None
    users = load.oracle.users()
    with Asker(members[0], users) as asker:
        with kafka.quota(topic_name, consumer=10_000):
            third.start(ready=False)

            def says_how_old_it_is():
                load.send(topics, topic_name, 200)
                states = members[1].partition_status()
                given_away = {p for p, s in states.items() if s["state"] == "unassigned"}
                theirs = next((u for u in users if partition_of(u, PARTITIONS) in given_away), None)
                answer = theirs and members[1].http.get(user_path(theirs))
                return answer and answer.headers["Seen-Answered-By"] == members[1].name and as_of(answer)

            wait_until(
                lambda: (of := says_how_old_it_is()) and of[0] and (of[1] or 0) > 2_000,
                "a partition moves, and what its former owner answers gets older",
                120,
                every_s=0.5,
            )
            time.sleep(15)
            assert not third.owned()
        wait_routed([*members, third])
    assert not asker.failures, asker.failures
    wait_read_by([*members, third], topics, topic_name, timeout_s=120)
    load.oracle.check_http(third, users=chance.sample(users, 100))


def test_a_daemon_without_a_partition_is_ready_once_others_answer_for_it(topics, member, topic_name, chance):
    """So a load balancer keeps the survivors when a daemon dies, and more daemons than partitions do no
    harm."""
    topics.create(topic_name, partitions=1)
    members = [member(number).start(ready=False) for number in range(2)]
    load = Load(chance, users=10)
    load.send(topics, topic_name, 100)

    def settled():
        return sorted(len(m.owned()) for m in members) == [0, 1] and all(
            m.http.get(page).status == 200
            for m in members
            for page in ("/readyz", user_path(load.oracle.users()[0]))
        )

    wait_until(settled, "one owns the partition, and both are ready and answer", 60)


def test_copies_of_what_others_own_go_when_they_are_over_their_budget(topics, member, topic_name, chance):
    topics.create(topic_name, partitions=PARTITIONS)
    keeps, drops = member(0), member(1, state={"keep_gib": 0})
    drops.start()
    load = Load(chance, users=60)
    load.send(topics, topic_name, 1_000)
    drops.wait_at_rest()
    keeps.start(ready=False)
    wait_until(lambda: len(keeps.owned()) == len(drops.owned()) == PARTITIONS // 2, "each owns a half", 60)

    def folders(member):
        return {int(p.name.partition("-")[2]) for p in member.store.glob("partition-*")}

    wait_until(lambda: folders(drops) == drops.owned(), "what the other one owns is gone", 60)
    assert "over state.keep_gib" in drops.log()
    drops.kill9()
    wait_until(lambda: len(keeps.owned()) == PARTITIONS, "one owns all", 60)
    drops.start(ready=False)
    wait_until(lambda: len(drops.owned()) == PARTITIONS // 2, "each owns a half again", 60)
    time.sleep(3)
    assert folders(keeps) == set(range(PARTITIONS)), "within its budget everything stays"
    wait_read_by((keeps, drops), topics, topic_name)
    for m in (keeps, drops):
        theirs = [u for u in load.oracle.users() if m.http.get(user_path(u)).status == 200]
        load.oracle.check_http(m, users=theirs)
