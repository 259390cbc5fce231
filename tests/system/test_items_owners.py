"""The index of items has one owner. No older group record follows a newer one. Wherever the index moves,
groups and answers are the same as those of a single daemon."""

import time

from item_stream import Items, changed, item, many_items, text_of
from places import wait_until

SESSION_S = 6  # the shortest session that brokers accept
CLIENT = {
    "session.timeout.ms": str(SESSION_S * 1000),
    "heartbeat.interval.ms": "1000",
    "topic.metadata.refresh.interval.ms": "2000",
}


def partition_of(seend):
    """The daemon's status of the only partition of the index. None: it doesn't own the index."""
    partitions = ((seend.status() or {}).get("items") or {}).get("partitions")
    return partitions[0] if partitions else None


def put(topics, topic, records):
    """Writes records as another process would, with the same keys and partitions."""
    topics.produce(topic, records.items(), "murmur2")


def test_no_old_group_follows_a_newer_one_after_a_stop_longer_than_the_session(topics, daemon, topic_name):
    items = Items(topics, topic_name)

    def member(name, instance_id, **client):
        return daemon(
            topic_name,
            {
                "kafka": {"instance_id": instance_id, "client": {**CLIENT, **client}},
                "store": {"checkpoint_interval_s": 600},
                **items.config(),
            },
            name,
        )

    # The assignor prefers the second daemon. So the first one never sends again what it had in its queue.
    first = member("first", "b", **{"linger.ms": "2000"}).start()
    wait_until(lambda: partition_of(first), "it owns the index")
    items.send(*(item(f"n{i}", text_of(i)) for i in range(100)))
    wait_until(
        lambda: partition_of(first)["groups_sent"] >= 100,
        "its groups are in the producer's queue",
        every_s=0.02,
    )
    with first.standing_still():
        second = member("second", "a").start("--rebuild", ready=False)
        wait_until(
            lambda: (p := partition_of(second)) and p["state"] == "ready", "the second one takes over", 40
        )
        items.send(*(item(f"m{i}", changed(text_of(i), 5)) for i in range(100)))
        # 200 records of n, 100 of m, and none from the first daemon.
        wait_until(
            lambda: topics.total(items.groups) == 300,
            "all groups have arrived",
        )
        groups, ends = items.published(), topics.ends(items.groups)
    assert all(groups[f"n{i}"]["near"] for i in range(100))
    time.sleep(SESSION_S + 4)  # long enough for records that the first daemon might still send
    assert partition_of(second) and not partition_of(first)
    assert items.published() == groups
    assert topics.ends(items.groups) == ends, "nothing was sent that had to be repaired"


def test_a_group_that_somebody_else_writes_is_replaced(topics, daemon, topic_name):
    items = Items(topics, topic_name)
    topics.create(items.groups, partitions=3, cleanup_policy="compact")
    seend = daemon(topic_name, items.config()).start()
    items.send(*(item(f"n{i}", text_of(i)) for i in range(20)))
    items.wait_at_rest(seend)
    old = items.newest()
    items.send(*(item(f"m{i}", changed(text_of(i), 5)) for i in range(20)), item("n7", deleted=True))
    items.wait_at_rest(seend)
    right = items.published()
    assert right["n3"]["near"] and "n7" not in right
    foreign = {"n3": old["n3"], "n4": b"{", "n5": None, "n7": old["n7"]}

    def write_and_see_it_repaired(count):
        put(topics, items.groups, foreign)
        wait_until(lambda: items.published() == right, "they are replaced", 10)
        wait_until(lambda: seend.metric_sum("seen_item_groups_foreign_total") >= count, "they are counted")

    time.sleep(2)  # the daemon has read its own records: later records come after them
    write_and_see_it_repaired(4)
    assert "somebody else wrote into the topic of groups" in seend.log()
    write_and_see_it_repaired(8)
    # The daemon keeps a correct record, whoever wrote it.
    ends = topics.ends(items.groups)
    put(topics, items.groups, {"n8": items.newest()["n8"]})
    time.sleep(2)
    assert topics.total(items.groups) == 1 + sum(end for _, end in ends.values())
    # Foreign records may also come while nobody owns the index.
    for stop in (seend.stop, seend.kill9):
        stop()
        put(topics, items.groups, foreign)
        seend.start()
        wait_until(lambda: items.published() == right, "they are replaced", 10)
        assert seend.metric_sum("seen_item_groups_foreign_total") == 4


def test_wherever_the_index_moves_groups_and_answers_are_those_of_one_daemon(topics, daemon, topic_name):
    items = Items(topics, topic_name)

    def member(number):
        return daemon(
            topic_name,
            {"kafka": {"instance_id": f"member-{number}", "client": CLIENT}, **items.config()},
            name=f"member-{number}",
        )

    values = list(many_items(3_000))
    parts = iter([values[at : at + 500] for at in range(0, len(values), 500)])

    def owner(*others_than):
        """Waits until exactly one daemon owns the index, and it isn't one of `others_than`. Returns this
        daemon."""

        def one():
            owners = [m for m in members if m.alive() and m not in stopped and partition_of(m)]
            return owners[0] if len(owners) == 1 and owners[0] not in others_than else None

        return wait_until(one, "another one owns the index", SESSION_S + 30)

    stopped = []
    members = [member(2).start(ready=False), member(1).start(ready=False)]
    items.send(*next(parts))
    one = owner()
    members.append(member(0).start(ready=False))  # joins the group
    items.send(*next(parts))
    time.sleep(2)
    one = owner()
    one.kill9()
    items.send(*next(parts))
    two = owner()
    one.start(ready=False)
    time.sleep(2)
    two = owner()
    with two.standing_still():
        stopped.append(two)
        items.send(*next(parts))
        three = owner(two)
        items.send(*next(parts))
        time.sleep(1)
    stopped.clear()
    owner()
    three.stop()
    items.send(*next(parts))
    three.start(ready=False)
    time.sleep(2)
    last = owner()
    items.wait_at_rest(last)
    wait_until(lambda: owner() is last, "it stays where it is")

    alone = daemon(
        topic_name,
        {
            "kafka": {"group_id": f"{topic_name}-alone"},
            "watermarks": {"topic": None},
            **items.config(groups_topic=f"{items.groups}-alone"),
        },
        "alone",
    ).start(ready=False)
    items.wait_at_rest(alone)
    groups = items.published(f"{items.groups}-alone")
    assert len(groups) > 2_000 and sum(len(r["near"]) > 0 for r in groups.values()) > 1_000
    wait_until(lambda: items.published() == groups, "the groups are those of one daemon", 10)
    for seed in range(0, 1_000, 40):
        question = {"text": text_of(seed, 60), "limit": 100}
        answers = [seend.http.post("/v1/similar", question) for seend in (last, alone)]
        assert [a.status for a in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()
