"""Exposures in Kafka become filters for recall, whichever client produces them."""

import re

import pytest

from http_json import user_path
from load import one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until
from snapshot_reader import might_contain, read_snapshot

PAIRS = [(f"user-{i % 40}", f"item-{i}") for i in range(2_000)]


@pytest.mark.parametrize(
    "client, partitioner", [("kcat", "crc32"), ("java", "murmur2"), ("python", "murmur2")]
)
def test_events_become_filters(client, partitioner, kafka, topics, started, topic_name):
    seend = started({"input": {"partitioner": partitioner}}, partitions=4)
    oracle = Oracle()
    records = one_by_one(oracle, PAIRS)
    lines = [f"{user}\t{value}" for user, value in records]
    if client == "kcat":
        kafka.kcat(topic_name, lines, "-K", "\t")
    elif client == "java":
        kafka.console_producer(topic_name, lines, "parse.key=true", "key.separator=\t")
    else:
        topics.produce(topic_name, records)
    ends = seend.wait_at_rest()
    assert sum(ends.values()) == len(PAIRS)

    oracle.check_http(seend)
    for user in oracle.users():
        oracle.check_snapshot(user, seend.snapshot(user))
    published = oracle.check_published(topics, f"{topic_name}-filters", 4, partitioner)
    snapshot = read_snapshot(published["user-7"])
    assert all(might_contain(snapshot.payload, item) for item in oracle.items("user-7"))
    assert snapshot.input_offset <= ends[snapshot.partition]

    assert topics.partitions(f"{topic_name}-filters") == 4
    assert topics.config(f"{topic_name}-filters")["cleanup.policy"] == "compact"
    wait_until(
        lambda: topics.committed(seend.group, topic_name) == {p: end for p, end in ends.items() if end},
        "every checkpoint commits its offset to the group",
    )
    assert seend.metric_sum("seen_events_total") == len(PAIRS)
    assert seend.metric_sum("seen_events_misrouted_total") == 0


def test_a_batch_event_and_ids_of_every_kind_are_seen(topics, started, topic_name):
    seend = started(partitions=3)
    oracle, now = Oracle(), now_ms()
    users = ["u/1", "u 2", "用户三", "u%34", "5", "x" * 512, "?a=b&c", "."]
    records = []
    for user in users:
        oracle.add(user, "n1", now)
        oracle.add(user, "商品/2", now)
        oracle.add(user, "18446744073709551615", now)
        user_id = user if user == "5" else f'"{user}"'  # an integer id equals its decimal string
        records.append(
            (
                user,
                '{"user_id":%s,"exposed_at":%d,"scene":"s","items":["n1",{"item_id":"商品/2",'
                '"position":4},18446744073709551615]}' % (user_id, now),
            )
        )
    topics.produce(topic_name, records)
    seend.wait_at_rest()
    oracle.check_http(seend)
    oracle.check_published(topics, f"{topic_name}-filters", 3)


def test_an_event_is_visible_and_published_within_moments(topics, started, topic_name):
    seend = started()
    topics.produce(topic_name, [("warm", event("warm", "i", now_ms()))])
    seend.wait_at_rest()
    before = now_ms()
    topics.produce(topic_name, [("u", event("u", "i1", before))])
    while seend.unseen("u", ["i1"]):
        assert now_ms() - before < 2_000, "visible over HTTP within two seconds"
    while not any(m.key() == b"u" for m in topics.read_all(f"{topic_name}-filters")):
        assert now_ms() - before < 5_000, "published within five seconds"


def test_unseen_keeps_the_order_and_answers_each_item_once(topics, started, topic_name):
    seend = started()
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "shown"), ("v", "other")]))
    seend.wait_caught_up()
    assert seend.unseen("u", ["b", "a", "shown", "b", "c", "other"], ["c"]) == ["b", "a", "other"]

    def as_of():
        answer = seend.http.post(user_path("u") + "/unseen", {"items": ["a"]})
        return re.fullmatch(r"(\d+); lag=(\d+); age_ms=(\d+)", answer.headers["Seen-As-Of"])

    time_ms, lag, _ = wait_until(as_of, "the end of the partition is known").groups()
    assert abs(int(time_ms) - now_ms()) < 60_000 and int(lag) == 0


def test_an_unknown_user_has_a_valid_empty_filter(started):
    seend = started()
    snapshot = read_snapshot(seend.snapshot("nobody"))
    assert snapshot.item_count == 0 and not any(snapshot.payload)
    assert seend.unseen("nobody", ["a", "b"]) == ["a", "b"]


def test_a_filter_without_a_snapshot_topic_publishes_nothing_and_still_answers(topics, started, topic_name):
    seend = started({"filters": [{"name": "quiet", "snapshot": None}]})
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "shown")]))
    seend.wait_at_rest()
    assert seend.unseen("u", ["shown", "new"], filter_name="quiet") == ["new"]
    assert topics.partitions(f"{topic_name}-filters") == 0


def test_two_filters_have_windows_and_topics_of_their_own(topics, started, topic_name):
    day = 86_400_000
    filters = [
        {
            "name": "month",
            "window_days": 30,
            "snapshot": {"topic": f"{topic_name}-month", "debounce_ms": 200},
        },
        {"name": "week", "window_days": 7, "snapshot": {"topic": f"{topic_name}-week", "debounce_ms": 200}},
    ]
    seend = started({"filters": filters})
    month, week, now = Oracle(), Oracle(), now_ms()
    records = one_by_one(month, [("u", "old")], now - 15 * day) + one_by_one(
        month, [("u", "new")], now - 2 * day
    )
    one_by_one(week, [("u", "new")], now - 2 * day)
    topics.produce(topic_name, records)
    seend.wait_at_rest()
    assert seend.unseen("u", ["old", "new"], filter_name="month") == []
    assert seend.unseen("u", ["old", "new"], filter_name="week") == ["old"]
    month.check_published(topics, f"{topic_name}-month", 2)
    week.check_published(topics, f"{topic_name}-week", 2)
