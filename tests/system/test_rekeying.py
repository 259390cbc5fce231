"""Input that isn't keyed by user: seend writes each event to a topic that is keyed by user, and reads that
topic."""

import json
import time

import pytest

from hashes import partition_of
from http_json import user_path
from load import Load, one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until
from seend import one_filter


NOW = now_ms()
PAIRS = [(f"user-{i % 40}", f"item-{i}") for i in range(2_000)]
ANY_KEY = {"input": {"keyed_by_user": False}}


def keyless(records):
    return [(None, value) for _, value in records]


@pytest.mark.parametrize(
    "client, partitioner", [("kcat", "murmur2"), ("java", "crc32"), ("python", "murmur2")]
)
def test_events_under_any_key_become_filters(client, partitioner, kafka, topics, started, topic_name):
    seend = started(
        {"input": {"keyed_by_user": False, "partitioner": partitioner}},
        partitions=4,
        retention_ms=777_000_000,
    )
    oracle = Oracle()
    values = [value for _, value in one_by_one(oracle, PAIRS)]
    if client == "kcat":
        kafka.kcat(topic_name, values)
    elif client == "java":
        kafka.console_producer(topic_name, values)
    else:  # keys that don't depend on the user, and another partitioner
        topics.produce(topic_name, [(f"session-{i % 97}", v) for i, v in enumerate(values)], "consistent")
    seend.wait_at_rest()
    oracle.check_http(seend)
    oracle.check_published(topics, f"{topic_name}-filters", 4)

    keyed = topics.read_all(f"{topic_name}-by-user")
    assert len(keyed) == len(PAIRS)
    for message in keyed:
        user = json.loads(message.value())["user_id"]
        assert message.key().decode() == user
        assert message.partition() == partition_of(user, 4)
    config = topics.config(f"{topic_name}-by-user")
    assert (config["retention.ms"], config["cleanup.policy"]) == ("777000000", "delete")
    assert seend.metric_sum("seen_rekeyed_total") == len(PAIRS)
    assert seend.metric_sum("seen_events_misrouted_total") == 0
    rekeying = wait_until(
        lambda: (r := seend.status()["rekeying"])["lag_messages"] == 0 and r, "the lag is gone"
    )
    assert rekeying["source_topic"] == topic_name and rekeying["caught_up"] and not rekeying["problem"]
    assert {p["partition"]: p["committed_offset"] for p in rekeying["partitions"] if p["high_watermark"]} == {
        p: end for p, (_, end) in topics.ends(topic_name).items() if end
    }
    assert seend.status()["topic"] == f"{topic_name}-by-user"


def test_a_record_is_passed_on_as_it_was(topics, daemon, topic_name):
    then = NOW - 3 * 86_400_000
    topics.create(topic_name, partitions=1)
    topics.create(f"{topic_name}-mine", partitions=3)  # not the source's count
    seend = daemon(
        topic_name,
        {
            "input": {
                "keyed_by_user": False,
                "keyed_topic": f"{topic_name}-mine",
                "fields": {"user_id": "/who/id", "items": "/pages/*/ids"},
            }
        },
    ).start()
    value = b'{"who":{"id":7},"pages":[{"ids":["a","b"]}, {"ids":["c"]}],"exposed_at":%d}' % then
    headers = [("trace", b"\x00\xff"), ("trace", b"2"), ("none", None)]
    topics.produce(topic_name, [("k", value, {"timestamp": then, "headers": headers})])
    seend.wait_at_rest()
    (passed_on,) = topics.read_all(f"{topic_name}-mine")
    assert (passed_on.key(), passed_on.value()) == (b"7", value)
    assert passed_on.timestamp()[1] == then
    assert passed_on.headers() == headers
    assert passed_on.partition() == partition_of("7", 3)
    assert seend.unseen("7", ["a", "b", "c", "d"]) == ["d"]
    assert topics.partitions(f"{topic_name}-by-user") == 0


def test_what_is_bad_becomes_one_dead_letter_with_its_own_place(topics, daemon, topic_name):
    topics.create(topic_name, partitions=2)
    seend = daemon(
        topic_name,
        {
            "input": {
                "keyed_by_user": False,
                "event_bytes_max": 4096,
                "only_if": {"at": "/scene", "equals": "home"},
            }
        },
    )
    home = {"user_id": "u1", "item_id": "n1", "exposed_at": NOW, "scene": "home"}
    bad = [
        (json.dumps({**home, **change}).encode(), reason)
        for change, reason in (
            ({"user_id": ["u1"]}, "wrong_type"),
            ({"item_id": ""}, "empty_id"),
            ({"exposed_at": -1}, "out_of_range"),
            ({"exposed_at": NOW + 3_600_000}, "too_far_ahead"),
            ({"kind": "looked_at"}, "unknown_kind"),
            ({"user_id": "u" * 513}, "id_too_long"),
            ({"more": "x" * 5000}, "too_large"),
        )
    ]
    bad += [(None, "null_value"), (b"exposure", "not_json"), (b'{"scene":"home"}', "missing_field")]
    oracle, records = Oracle(), []
    for i, (value, _) in enumerate(bad):
        at = NOW - i
        oracle.add("u1", f"good-{i}", at)
        records += [
            ("k1", event("u1", f"good-{i}", at, scene="home")),
            (f"key-{i}", value),
            (None, event("u1", f"skipped-{i}", at, scene="elsewhere")),
        ]
    seend.start()
    places = topics.produce(topic_name, records)
    seend.wait_at_rest()
    oracle.check_http(seend)
    assert seend.unseen("u1", ["skipped-0"]) == ["skipped-0"]

    letters = topics.letters(f"{topic_name}-dead", len(bad))
    assert len(letters) == len(bad)
    for i, (value, reason) in enumerate(bad):
        letter, headers = letters[places[3 * i + 1]]
        assert headers["source-topic"] == topic_name
        assert (headers["reason"], letter.value(), letter.key()) == (reason, value, f"key-{i}".encode())
    metrics = seend.metrics()
    for reason in {reason for _, reason in bad}:
        assert metrics[f'seen_events_rejected_total{{reason="{reason}"}}'] == sum(
            r == reason for _, r in bad
        ), reason
    assert metrics['seen_events_skipped_total{reason="condition"}'] == len(bad)
    assert metrics["seen_rekeyed_total"] == len(bad)


def test_what_is_too_long_for_the_keyed_topic_becomes_a_dead_letter(topics, daemon, topic_name, chance):
    topics.create(topic_name, partitions=1)
    topics.create(f"{topic_name}-by-user", partitions=1, max_message_bytes=20_000)
    seend = daemon(topic_name, ANY_KEY).start()
    oracle = Oracle()
    records = keyless(one_by_one(oracle, [("u", f"before-{i}") for i in range(500)], NOW))
    long = event("u", "long", NOW, more=[chance.random() for _ in range(5_000)])  # compresses badly
    records += [("k", long)] + keyless(one_by_one(oracle, [("u", f"after-{i}") for i in range(500)], NOW))
    topics.produce(topic_name, records)
    seend.wait_at_rest()
    oracle.check_http(seend)
    assert seend.unseen("u", ["long"]) == ["long"]
    ((letter, headers),) = topics.letters(f"{topic_name}-dead").values()
    assert (headers["reason"], headers["source-offset"], letter.key()) == ("too_large", "500", b"k")


@pytest.mark.heavy
def test_five_kills_in_the_middle_of_re_keying_lose_nothing(topics, daemon, topic_name, chance):
    topics.create(topic_name, partitions=4)
    load = Load(chance, users=3_000)
    seend = daemon(
        topic_name,
        {
            **ANY_KEY,
            **one_filter(topic_name, debounce_ms=500, items_max=100_000),
        },
    )
    events, kills = 400_000, 5
    topics.produce(topic_name, keyless(load.events(events)), "random")
    in_the_middle = 0
    for _ in range(kills):
        seend.start(ready=False)
        wait_until(
            lambda: seend.get("/metrics") and seend.metric_sum("seen_rekeyed_total") > 0,
            "it re-keys",
            every_s=0.01,
        )
        time.sleep(chance.random() * 0.2)
        seend.kill9()
        done = sum(topics.committed(f"{seend.group}-rekey", topic_name).values())
        in_the_middle += done < events
    seend.start(timeout_s=60)
    seend.wait_at_rest(timeout_s=120)
    keyed = topics.total(f"{topic_name}-by-user")
    print(f"{in_the_middle} of {kills} kills in the middle; {keyed - events} of {events} events twice")
    assert in_the_middle > 0 and keyed >= events
    load.oracle.check_http(seend, users=chance.sample(load.oracle.users(), 500), strangers=5)
    load.oracle.check_published(topics, f"{topic_name}-filters", 4)


def test_verify_takes_the_source_as_its_oracle(topics, started, topic_name, chance):
    load = Load(chance, users=200, items=1_000)
    seend = started(ANY_KEY, partitions=3)
    topics.produce(topic_name, [(f"k{i}", value) for i, (_, value) in enumerate(load.events(30_000))])

    def verify(topic, **more):
        options = {"snapshots": True, "snapshot_topic": f"{topic_name}-filters", "json": True, "quiet": True}
        return seend.seenctl("verify", brokers=topics.bootstrap, topic=topic, **options, **more)

    for topic in (topic_name, f"{topic_name}-by-user"):
        verified = json.loads(verify(topic)[0])
        assert (verified["exposures"], verified["users"]) == (30_000, len(load.oracle.users()))
    assert f"the daemon reads {topic_name}\n" in verify(f"{topic_name}-filters", status=None)[1]


def test_no_answer_before_all_that_was_there_is_re_keyed(topics, daemon, topic_name, chance):
    topics.create(topic_name, partitions=2)
    load = Load(chance, users=50, items=5_000)
    values = [value for _, value in load.events(150_000)]
    topics.produce(topic_name, [(None, value) for value in values])
    seend = daemon(topic_name, {**ANY_KEY, "http": {"ready_lag_messages": 0}})
    seend.start(ready=False)
    users = load.oracle.users()[:5]
    refused, answered, caught_up, behind_at = 0, set(), False, time.monotonic()

    def first_answers():
        nonlocal refused, caught_up, behind_at
        asked_at = time.monotonic()
        rekeying = (seend.status() or {"rekeying": None})["rekeying"]
        caught_up = caught_up or bool(rekeying and rekeying["caught_up"])
        if not caught_up:  # a slow machine sees the change late, so use the last time before it
            behind_at = asked_at
        for user in set(users) - answered:
            items = sorted(load.oracle.items(user))
            answer = seend.http.post(user_path(user, "default") + "/unseen", {"items": items})
            if answer.status == 503:
                refused += 1
                continue
            assert answer.status == 200 and answer.json()["unseen"] == [], f"{user}: answered too early"
            answered.add(user)
        return len(answered) == len(users)

    wait_until(first_answers, "every user is answered", timeout_s=60, every_s=0.02)
    assert refused > 0
    seend.wait_at_rest()
    seconds = time.monotonic() - behind_at
    load.oracle.check_published(topics, f"{topic_name}-filters", 2)
    sent = seend.metric_sum("seen_snapshots_total")
    # After it has caught up, the daemon publishes a user at most once a second.
    assert sent <= (2 + seconds) * len(load.oracle.users()), (
        f"somebody was published before; it took {seconds:.1f} s"
    )


def test_daemons_of_one_group_share_the_work(topics, daemon, topic_name):
    topics.create(topic_name, partitions=4)
    one = daemon(topic_name, ANY_KEY, name="one").start()
    two = daemon(topic_name, ANY_KEY, name="two").start("--rebuild", ready=False)

    def shared():
        return all(
            sum(p["assigned"] for p in (d.status() or {})["rekeying"]["partitions"]) == 2
            and len(d.partition_status()) == 2
            for d in (one, two)
        )

    wait_until(shared, "each has two partitions of both topics", timeout_s=60)
    oracle = Oracle()
    # Each daemon has two of the four partitions.
    values = [value for _, value in one_by_one(oracle, PAIRS)]
    topics.produce(topic_name, [(None, value, {"partition": n % 4}) for n, value in enumerate(values)])
    one.wait_rekeyed()

    def seen(user):
        for asked in (one, two):
            answer = asked.http.post(
                user_path(user, "default") + "/unseen", {"items": sorted(oracle.items(user))}
            )
            if answer.status == 200:
                return answer.json()["unseen"] == []
        return False

    for user in oracle.users():
        wait_until(lambda: seen(user), f"{user}'s items are seen")
    assert one.metric_sum("seen_rekeyed_total") + two.metric_sum("seen_rekeyed_total") == len(PAIRS)
    assert min(one.metric_sum("seen_rekeyed_total"), two.metric_sum("seen_rekeyed_total")) > 0


def test_a_source_that_was_cut_is_noticed(topics, daemon, topic_name):
    """The source ends before the offset that the group has committed. (When a topic is deleted, Kafka forgets
    the offsets.)"""
    topics.create(topic_name, partitions=1)
    oracle = Oracle()
    topics.produce(topic_name, keyless(one_by_one(oracle, PAIRS[:100])))
    seend = daemon(topic_name, ANY_KEY)
    topics.commit(f"{seend.group}-rekey", topic_name, {0: 5_000})
    seend.start(ready=False)
    wait_until(
        lambda: (
            "--rebuild" in (said := seend.wait_not_ready().text) and "5000" in said and topic_name in said
        ),
        "it says so",
    )
    seend.stop()
    seend.start("--rebuild")
    seend.wait_at_rest()
    oracle.check_http(seend)


def test_what_retention_took_before_it_was_re_keyed_is_told(kafka, topics, started, topic_name):
    seend = started(ANY_KEY, partitions=1)
    topics.produce(topic_name, keyless(one_by_one(Oracle(), PAIRS[:100])))
    seend.wait_at_rest()
    seend.stop()
    topics.produce(topic_name, keyless(one_by_one(Oracle(), PAIRS[100:150])))
    kafka.delete_records(topic_name, {0: 120})
    oracle = Oracle()
    topics.produce(topic_name, keyless(one_by_one(oracle, [("late", "item")])))
    seend.start()
    wait_until(lambda: seend.unseen("late", ["item"]) == [], "what is left is read")
    status = wait_until(
        lambda: (p := seend.status()["rekeying"]["partitions"]) and p[0]["lost_messages"] and p[0],
        "the loss is shown",
    )
    assert status["lost_messages"] == 20
    assert seend.metrics()['seen_rekeying_lost_messages_total{partition="0"}'] == 20
