"""A day of history: a million items are served, 700,000 are shown, 1% are taken back. The daemon reads it
through five kill -9s. In the end the seen sets, the published snapshots and the unexposed topic are exactly
right."""

import collections
import json

import pytest

from hashes import partition_of
from history import DAY_MS, History, Served
from places import now_ms, wait_until
from seend import one_filter
from snapshot_reader import read_snapshot, render

PARTITIONS, KILLS = 4, 5
TTL_S, GRACE_S = 1800, 600


def read_unexposed(topics, topic, expected):
    """{(user, item, served_at): [records]}. Waits until the topic has `expected` records, at most 40 s."""

    def enough():
        return topics.total(topic) >= expected

    try:
        wait_until(enough, "served and never shown", timeout_s=40, every_s=0.5)
    except AssertionError:
        pass  # check_unexposed reports what is missing
    told = collections.defaultdict(list)
    for message in topics.read_all(topic):
        record = json.loads(message.value())
        assert message.key().decode() == record["user_id"]
        told[record["user_id"], record["item_id"], record["served_at"]].append(Served(**record))
    return told


def check_unexposed(history, told):
    missing = set(history.unexposed) - set(told)
    assert not missing, (
        f"{len(missing)} of {len(history.unexposed)} are missing, such as {sorted(missing)[:3]}"
    )
    wrongly = set(told) - set(history.unexposed)
    assert not wrongly, f"{len(wrongly)} were shown in time, or never served, such as {sorted(wrongly)[:3]}"
    for place, records in told.items():
        assert set(records) == {history.unexposed[place]}
    return sum(len(records) for records in told.values()) - len(told)


def check_published(history, topics, topic):
    """Checks that the topic has exactly the filter of every user who has seen anything, and no filter of
    other users."""
    last, tombstones = {}, 0
    for message in topics.read_all(topic):
        user = message.key().decode()
        assert message.partition() == partition_of(user, PARTITIONS)
        last[user] = message.value()
        tombstones += message.value() is None
    users = {user for user in history.all_users() if history.seen.get(user)}
    published = {user for user, data in last.items() if data is not None}
    assert users - published == set(), f"{len(users - published)} users without their filter"
    assert published - users == set(), f"{len(published - users)} users with a filter who have seen nothing"
    for user in users:
        prints, snapshot = history.fingerprints(user), read_snapshot(last[user])
        assert snapshot.item_count == len(prints), user
        assert snapshot.payload == render(prints, len(snapshot.payload) // 32), user
    return tombstones


def check_http(history, seend, users):
    for user in users:
        seen, other = sorted(history.seen.get(user, ())), history.not_seen.get(user, [])
        assert seend.unseen(user, seen + other) == list(dict.fromkeys(other)), user
        kept = seend.segments(user)
        assert kept["items"] == len(history.fingerprints(user)), user


def run_day(topics, daemon, topic_name, chance, *, pages, users, rate, more=None):
    day_start = (now_ms() // DAY_MS - 1) * DAY_MS
    history = History(chance, day_start, pages=pages, users=users, ttl_s=TTL_S, grace_s=GRACE_S)
    print(dict(history.counts), f"{len(history.records)} records, {len(history.unexposed)} unexposed")
    topics.create(topic_name, partitions=PARTITIONS)
    seend = daemon(
        topic_name,
        {
            **one_filter(topic_name, debounce_ms=1000, items_max=100_000, served_ttl_s=TTL_S),
            "unexposed": {"topic": f"{topic_name}-unexposed", "grace_s": GRACE_S},
            **(more or {}),
        },
    )
    total = len(history.records)
    kill_at = sorted(chance.randrange(total // 20, total) for _ in range(KILLS))
    seend.start(ready=False)
    records = ((user, value, {"timestamp": at}) for at, user, value in history.records)
    for number in topics.send(topic_name, records, rate=rate):  # so the kills are spread over the day
        if kill_at and number >= kill_at[0]:
            kill_at.pop(0)
            seend.kill9()
            seend.start(ready=False)
    assert not kill_at
    seend.wait_ready(60)
    seend.wait_at_rest(timeout_s=120)
    return history, seend


def check_day(history, seend, topics, topic_name, chance):
    check_http(history, seend, chance.sample(sorted(history.all_users()), min(500, len(history.all_users()))))
    doubles = check_unexposed(
        history, read_unexposed(topics, f"{topic_name}-unexposed", len(history.unexposed))
    )
    tombstones = check_published(history, topics, f"{topic_name}-filters")
    assert seend.metric_sum("seen_events_rejected_total") == 0
    assert topics.partitions(f"{topic_name}-dead") == 0 or not topics.read_all(f"{topic_name}-dead")
    print(f"{doubles} of {len(history.unexposed)} unexposed came twice; {tombstones} tombstones")


@pytest.mark.heavy
def test_a_day_of_history_across_five_kills(topics, daemon, topic_name, chance):
    history, seend = run_day(topics, daemon, topic_name, chance, pages=100_000, users=20_000, rate=60_000)
    assert history.counts["served"] >= 1_000_000 and history.counts["exposed"] >= 700_000
    assert 9_500 < history.counts["removed"] < 10_500
    check_day(history, seend, topics, topic_name, chance)
