"""The rules of what counts as seen, tried as a user would: events go in, answers and snapshots come out."""

import json

import pytest

from places import now_ms, wait_until
from seenctl_tool import begin
from seend import one_filter
from snapshot_reader import might_contain, read_snapshot

DAY_MS = 86_400_000


def event(user, items, at_ms=None, **more):
    items = {"items": items} if isinstance(items, list) else {"item_id": items} if items else {}
    return (user, json.dumps({"user_id": user, **items, "exposed_at": at_ms or now_ms(), **more}))


def at(record, timestamp_ms):
    """The record with this Kafka timestamp."""
    return (*record, {"timestamp": timestamp_ms})


def send(topics, seend, *records):
    topics.produce(seend.topic, records)
    seend.wait_caught_up()


class Published:
    """A published snapshot. `item in snapshot` tests it."""

    def __init__(self, data):
        self.read = read_snapshot(data)

    def __contains__(self, item):
        return might_contain(self.read.payload, item)


@pytest.fixture
def running(topics, daemon, topic_name):
    def start(**settings):
        topics.create(topic_name)
        return daemon(topic_name, one_filter(topic_name, debounce_ms=50, **settings)).start()

    return start


def test_served_items_count_at_once_and_come_back(topics, running):
    seend = running(served_ttl_s=6)
    send(topics, seend, event("u", ["a", "b"], kind="served"), event("u", "b"))
    assert seend.unseen("u", ["a", "b", "c"]) == ["c"]
    filters = f"{seend.topic}-filters"
    wait_until(
        lambda: (v := topics.newest(filters).get("u")) and "a" in Published(v) and "b" in Published(v),
        "both are in the snapshot",
    )
    # The item ends when its bucket and then the TTL are over: 6 to 7 seconds.
    wait_until(lambda: seend.unseen("u", ["a", "b"]) == ["a"], "the one that wasn't shown comes back", 12)
    wait_until(
        lambda: "a" not in Published(topics.newest(filters)["u"]),
        "and leaves the snapshot, no event having come",
        10,
    )
    assert "b" in Published(topics.newest(filters)["u"])
    kinds = [s["kind"] for s in seend.segments("u")["segments"]]
    assert "exposed" in kinds


def test_an_ending_is_published_after_kill_9(topics, running):
    seend = running(served_ttl_s=6)
    served_at = now_ms()
    send(topics, seend, event("u", "a", served_at, kind="served"))
    seend.wait_at_rest()
    filters = f"{seend.topic}-filters"
    assert "a" in Published(topics.newest(filters)["u"])
    seend.kill9()
    wait_until(
        lambda: now_ms() > served_at + 7_500, "its bucket and its time to live are over, with nobody there"
    )
    seend.start()
    wait_until(lambda: topics.newest(filters)["u"] is None, "nothing is left: a tombstone", 20)


def test_repeats_and_cool_down(topics, running):
    seend = running(exposures_min=3, cooldown_days=2, window_days=10)
    now = now_ms()
    send(
        topics,
        seend,
        event("u", "twice", now),
        event("u", "twice", now - 2_000),
        event("u", "thrice", now),
        event("u", "thrice", now - 2_000),
        event("u", "thrice", now - DAY_MS),
        *[event("u", "the same again", now)] * 5,
        *[event("u", "cooled down", now - 4 * DAY_MS - i * 1_000) for i in range(3)],
        *[event("u", "cooling", now - DAY_MS - i * 1_000) for i in range(3)],
    )
    asked = ["twice", "thrice", "the same again", "cooled down", "cooling"]
    for _ in range(2):
        assert seend.unseen("u", asked) == ["twice", "the same again", "cooled down"]
        seend.wait_at_rest()
        seend.kill9()
        seend.start()
    snapshot = Published(topics.newest(f"{seend.topic}-filters")["u"])
    assert "thrice" in snapshot and "cooling" in snapshot and snapshot.read.item_count == 2


def test_windows_by_the_items_creation(topics, running):
    seend = running(window_by="item_created_at", window_days=7)
    now = now_ms()
    send(
        topics,
        seend,
        event("u", "young", now, item_created_at=now - 2 * DAY_MS),
        event("u", "old", now, item_created_at=now - 20 * DAY_MS),
        event("u", "unknown", now),
        event("u", [{"item_id": "x", "item_created_at": now}, {"item_id": "y", "item_created_at": 1}], now),
    )
    asked = ["young", "old", "unknown", "x", "y"]
    assert seend.unseen("u", asked) == ["old", "y"]
    seend.wait_at_rest()
    assert seend.unseen("u", asked) == ["old", "y"]
    # An item that is taken back and shown again counts, even when its day of creation is before the removal's
    # day.
    send(topics, seend, event("u", "young", now + 1_000, kind="removed"))
    assert seend.unseen("u", ["young"]) == ["young"]
    send(topics, seend, event("u", "young", now + 2_000, item_created_at=now - 2 * DAY_MS))
    assert seend.unseen("u", ["young"]) == []
    send(topics, seend, event("u", None, now + 3_000, kind="erased"))
    assert seend.unseen("u", asked) == asked
    send(topics, seend, event("u", "young", now + 4_000, item_created_at=now - 2 * DAY_MS))
    assert seend.unseen("u", asked) == asked[1:]


def test_declared_kinds_have_windows_of_their_own(topics, running):
    seend = running(window_days=10, kinds={"purchased": {"window_days": 365}, "clicked": {"window_days": 2}})
    now = now_ms()
    month_ago = now - 40 * DAY_MS

    def history(record, days):
        return at(record, now - days * DAY_MS)

    send(
        topics,
        seend,
        history(event("u", "bought", month_ago, kind="purchased"), 40),
        history(event("u", "shown", month_ago), 40),
        history(event("u", "clicked lately", now - DAY_MS, kind="clicked"), 1),
        history(event("u", "clicked before", now - 5 * DAY_MS, kind="clicked"), 5),
        history(event("u", "clicked before, but shown", now - 5 * DAY_MS), 5),
        history(event("u", "clicked before, but shown", now - 5 * DAY_MS, kind="clicked"), 5),
        history(event("u", "odd", now, kind="hovered"), 0),
    )
    asked = ["bought", "shown", "clicked lately", "clicked before", "clicked before, but shown", "odd"]
    for _ in range(2):
        assert seend.unseen("u", asked) == ["shown", "clicked before", "odd"]
        seend.wait_at_rest()
        seend.kill9()
        seend.start()
    reasons = [dict(m.headers())["reason"] for m in topics.read_all(f"{seend.topic}-dead")]
    assert reasons and set(reasons) == {b"unknown_kind"}
    # Without the kind, its items don't count. When the kind is back, they count again. The sweep for the
    # changed filter and later merges must keep them.
    seend.stop()
    kinds = seend.config["filters"][0].pop("kinds")
    seend.start()
    assert "bought" in seend.unseen("u", asked)
    wait_until(lambda: "bought" not in Published(topics.newest(f"{seend.topic}-filters")["u"]), "the sweep")
    for item in ("later", "later still"):
        send(topics, seend, event("u", item, now))
        seend.wait_at_rest()
    seend.stop()
    seend.config["filters"][0]["kinds"] = dict(reversed(kinds.items()))
    seend.start()
    assert seend.unseen("u", asked) == ["shown", "clicked before", "odd"]


def test_unexposed_items_are_told_of(topics, started, topic_name):
    told_topic = f"{topic_name}-unexposed"
    seend = started(
        {
            "filters": [{"name": "default", "served_ttl_s": 60, "scenes": ["home"], "snapshot": None}],
            "unexposed": {"topic": told_topic, "grace_s": 30},
        },
        partitions=1,
    )
    start = now_ms() // 60_000 * 60_000 - DAY_MS
    items = [{"item_id": "a", "position": 1}, {"item_id": "b", "position": 2}]
    served = event("u", items, start, kind="served", scene="search", request_id="r1")
    send(
        topics,
        seend,
        at(served, start),
        at(event("u", "b", start + 5_000, scene="search"), start + 5_000),
        # Bucket (10 s), TTL and grace end at 100 s. Partition time reaches this moment and doesn't pass it.
        at(event("v", "x", start + 100_000), start + 100_000),
    )
    seend.wait_at_rest()
    assert topics.read_all(told_topic) == []
    seend.kill9()
    seend.start()
    send(topics, seend, at(event("v", "x", start + 101_000), start + 101_000))
    messages = wait_until(lambda: topics.read_all(told_topic), "it is told of", 20)
    told = {"user_id": "u", "item_id": "a", "served_at": start, "scene": "search"}
    told |= {"position": 1, "request_id": "r1"}
    assert [(m.key(), json.loads(m.value())) for m in messages] == [(b"u", told)]


def test_publish_ends_while_users_see_more(kafka, topics, daemon, topic_name):
    topics.create(topic_name)
    config = one_filter(topic_name, debounce_ms=1000) | {"store": {"checkpoint_interval_s": 1}}
    seend = daemon(topic_name, config).start()
    load = begin("generate", brokers=kafka.bootstrap, topic=topic_name, rate=600, events=60_000, quiet=True)
    try:
        at_work = lambda: all(s["marks_outstanding"] > 0 for s in seend.partition_status().values())  # noqa: E731
        wait_until(at_work, "snapshots of live users are outstanding")
        assert "all acknowledged" in seend.seenctl("publish", timeout=20)[0]
        assert load.poll() is None, "users saw more all the time"
    finally:
        load.kill()
        load.wait()


def test_publish_all_and_changed_settings(topics, running):
    seend = running()
    send(topics, seend, *[event(f"u{i}", "a") for i in range(300)])
    seend.wait_at_rest()
    filters = f"{seend.topic}-filters"
    before = len(topics.read_all(filters))
    assert "300 snapshots re-rendered" in seend.seenctl("publish", all=True)[0]
    assert len(topics.read_all(filters)) == before + 300
    seend.stop()
    seend.config["filters"][0]["snapshot"]["false_positive_rate"] = 0.001
    seend.start()
    wait_until(lambda: len(topics.read_all(filters)) == before + 600, "a new rate makes all anew", 30)
    assert all(
        abs(Published(value).read.false_positive_rate - 0.001) < 1e-9
        for value in topics.newest(filters).values()
    )
