"""Three daemons of one group change from an earlier version to this one, one by one, under load. One goes
back in between.

`make check-upgrade` runs this: tests/check/upgrade.py."""

import copy
import os
import pathlib
import shutil
import time

import pytest
from hashes import partition_of
from http_json import user_path
from live import Asker, Sender
from load import Load
from places import SEEND, wait_until
from seend import wait_streamed
from snapshot_reader import read_snapshot

EARLIER = pathlib.Path(os.environ["SEEN_EARLIER_BUILD_DIR"]).resolve() / "seend"
PARTITIONS, USERS, RATE = 6, 120, 300


class Member:
    """A daemon of the group. Both versions use its configuration and its state directory in turn."""

    def __init__(self, member, number):
        self.seend = member(number)
        self.whole_config = self.seend.config

    def becomes(self, program):
        self.seend.program = program
        self.seend.config = copy.deepcopy(self.whole_config)
        if program == EARLIER:  # the earlier version doesn't know these keys
            del self.seend.config["state"], self.seend.config["cluster"]

    def start(self):
        self.log_before = len(self.seend.log())
        self.seend.start(ready=False)

    def says(self, words):
        """How often the log has these words since the last start."""
        return self.seend.log()[self.log_before :].count(words)


def wait_all_read(topics, topic, members, more=lambda status, end: True):
    """Waits until the members own every partition, each once, and have read everything that the topic has
    now."""
    ends = topics.end_offsets(topic)

    def done():
        status = [item for m in members for item in m.seend.partition_status().items()]
        kept = [(p, s) for p, s in status if s["state"] == "ready"]
        return sorted(p for p, _ in kept) == list(range(PARTITIONS)) and all(
            s["next_offset"] >= ends[p] and more(s, ends[p]) for p, s in kept
        )

    wait_until(done, f"{[m.seend.name for m in members]} own every partition and have read up to {ends}", 90)
    return ends


def restart(_topics, _topic, member, _others):
    member.seend.stop()


def kill(_topics, _topic, member, _others):
    member.seend.kill9()


def be_away(topics, topic, member, others):
    """Stops the member for longer than its session. The others take its partitions until it comes back."""
    member.seend.stop()
    wait_all_read(topics, topic, others)


@pytest.mark.parametrize("end", [restart, kill, be_away], ids=["restarted", "killed", "away-for-long"])
def test_no_seen_item_comes_back_while_daemons_change_their_version(topics, member, topic_name, chance, end):
    topics.create(topic_name, partitions=PARTITIONS)
    members = [Member(member, number) for number in range(3)]
    load = Load(chance, users=USERS, items=5_000)
    for member in members:
        member.becomes(EARLIER)
        member.start()
    wait_until(lambda: all(m.seend.owned() for m in members), "each owns some")
    steps = [(0, SEEND), (1, SEEND), (0, EARLIER), (0, SEEND), (2, SEEND)]
    print(f"\n{end.__name__}:")
    with Sender(load, topics, topic_name, RATE) as sender, Asker([m.seend for m in members], sender) as asker:
        time.sleep(5)  # so that the state directories hold some history
        wait_all_read(topics, topic_name, members)
        asker.step()
        for number, program in steps:
            member, start = members[number], time.monotonic()
            had = member.seend.owned()
            end(topics, topic_name, member, [m for m in members if m is not member])
            member.becomes(program)
            member.start()
            wait_all_read(topics, topic_name, members)
            took_s = time.monotonic() - start
            time.sleep(2)  # long enough to ask about every user in the new order
            check_in_place(member, had, end)
            for m in members:
                assert m.seend.alive(), f"{m.seend.name} ended:\n{m.seend.log()[-3000:]}"
            name = "the earlier version" if program == EARLIER else "this version"
            print(f"  {member.seend.name} to {name}, {took_s:.1f} s:\n    {asker.step().line()}")
    check_all(topics, topic_name, members, load)
    for m in members:
        m.seend.stop()


def test_what_an_earlier_version_takes_this_one_answers_no_more(topics, member, topic_name, chance):
    """The earlier version doesn't say whether it answers. If this version answered, its answers would lack
    more and more."""
    topics.create(topic_name, partitions=PARTITIONS)
    this, earlier = (Member(member, number) for number in range(2))
    this.becomes(SEEND)
    this.start()
    load = Load(chance, users=60)
    load.send(topics, topic_name, 500)
    wait_until(lambda: len(this.seend.owned()) == PARTITIONS, "it owns all")
    wait_all_read(topics, topic_name, [this])
    earlier.becomes(EARLIER)
    earlier.start()
    wait_until(
        lambda: earlier.seend.owned() and not earlier.seend.owned() & this.seend.owned(),
        "it has some of them",
        60,
    )
    load.send(topics, topic_name, 500)
    wait_all_read(topics, topic_name, [this, earlier])
    moved = [
        u for u in load.oracle.users() if partition_of(u, PARTITIONS, "murmur2") in earlier.seend.owned()
    ]
    load.oracle.check_http(earlier.seend, users=moved)

    wait_until(
        lambda: all(this.seend.http.get(user_path(u)).status == 503 for u in moved),
        "it answers for none that the other one has",
        20,
    )


def test_a_restored_state_goes_back_to_an_earlier_version_and_the_state_topic_misses_nothing(
    kafka, topics, member, topic_name, chance
):
    """The earlier version doesn't write what it reads to the state topic."""
    topics.create(topic_name, partitions=PARTITIONS)
    member, load = Member(member, 0), Load(chance, users=60)
    seend = member.seend
    member.becomes(SEEND)

    def runs_on(events):
        member.start()
        load.send(topics, topic_name, events)
        wait_until(lambda: len(seend.owned()) == PARTITIONS, "it owns all")
        ends = wait_all_read(topics, topic_name, [member])
        if seend.program == SEEND:
            wait_streamed([seend], ends)
        load.oracle.check_http(seend, strangers=5)
        seend.stop()
        return ends

    def lose(ends):
        shutil.rmtree(seend.store)
        kafka.delete_records(topic_name, ends)

    lose(runs_on(1_000))
    runs_on(100)
    assert member.says("state restored from the state topic") == PARTITIONS
    member.becomes(EARLIER)
    runs_on(500)
    assert member.says("state is missing") == 0
    member.becomes(SEEND)
    lose(runs_on(100))
    runs_on(100)
    assert member.says("state restored from the state topic") == PARTITIONS


def check_in_place(member, had, end):
    """Checks that the member opened the state of the other version: nothing was refused, missing or
    corrupt."""
    status = member.seend.partition_status()
    assert [s for s in status.values() if s["state"] != "ready" or s["lost_ranges"]] == []
    for words in ("state is missing", "refused", "corrupt"):
        assert member.says(words) == 0 or end is be_away and words == "state is missing", member.seend.log()[
            -3000:
        ]
    if end is not be_away:
        assert set(status) == had, "a restart within its session gives it its partitions back"


def check_all(topics, topic, members, load):
    """Checks that every daemon's answers, the published snapshots and the state topic hold all events."""
    ends = wait_all_read(
        topics, topic, members, lambda s, end: s["marks_outstanding"] == 0 and s["checkpoint_offset"] >= end
    )
    for member in members:
        load.oracle.check_http(member.seend, strangers=5)  # it passes requests for the others' users on
    load.oracle.check_published(topics, f"{topic}-filters", PARTITIONS)
    counts = {}
    for message in topics.read_all(f"{topic}-filters"):
        count, user = read_snapshot(message.value()).item_count, message.key()
        assert counts.get(user, 0) <= count, (
            f"{user} at {message.partition()}/{message.offset()}: an older snapshot came later"
        )
        counts[user] = count
    wait_streamed([member.seend for member in members], ends)
    for member in members:
        assert member.seend.metric_sum("seen_partitions_refused") == 0
