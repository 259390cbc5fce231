"""What is new reaches readers of snapshots and updates within a moment, and none claims to know what it
doesn't. The reader is clients/python, over a real Kafka."""

import sys
import threading
import time

import pytest

from client_example import CLIENTS
from load import one_by_one
from oracle import Oracle
from places import now_ms, wait_until
from seend import with_updates

sys.path[:0] = [str(CLIENTS / "python" / "examples"), str(CLIENTS / "python" / "src")]
from tail_snapshots import UpdatesTail

PARTITIONS = 2


@pytest.fixture
def follow(topics, topic_name):
    """Makes readers of all three topics, and ends them."""
    tails = []

    def make():
        tails.append(
            UpdatesTail(
                topics.bootstrap,
                f"{topic_name}-filters",
                f"{topic_name}-beats",
                f"{topic_name}-updates",
                "default",
                10_000_000,
            )
        )
        return tails[-1].reader

    yield make
    for tail in tails:
        tail.close()


def is_fresh(reader, since_ms):
    return reader.as_of() is not None and reader.as_of() >= since_ms


def check(reader, oracle):
    for user in oracle.users():
        missed = reader.unseen(user, sorted(oracle.items(user)))
        assert not missed, f"{user}: {missed}"


def test_what_was_shown_counts_before_any_snapshot_says_so(topics, daemon, topic_name, follow):
    topics.create(topic_name, partitions=PARTITIONS)
    daemon(topic_name, with_updates(topic_name, debounce_ms=3_600_000)).start()
    oracle = Oracle()
    topics.produce(topic_name, one_by_one(oracle, [(f"u{i}", "first") for i in range(50)]))
    reader = follow()
    wait_until(lambda: is_fresh(reader, now_ms() - 5_000), "the reader is fresh", 60)
    # The snapshots of these users are due in an hour.
    topics.produce(topic_name, one_by_one(oracle, [(f"u{i}", "second") for i in range(50)]))
    sent = now_ms()
    wait_until(lambda: is_fresh(reader, sent), "the reader knows what was shown until then", 60)
    check(reader, oracle)
    assert reader.unseen("u1", ["third", "second"]) == ["third"]
    assert reader.additions > 0

    # A reader that begins now learns the same.
    other = follow()
    wait_until(lambda: is_fresh(other, sent), "a second reader is fresh", 60)
    check(other, oracle)


def test_a_user_whose_events_stand_in_two_partitions_keeps_both_snapshots(topics, daemon, topic_name, follow):
    topics.create(topic_name, partitions=PARTITIONS)
    seend = daemon(topic_name, with_updates(topic_name, refresh_s=1)).start()
    shown = one_by_one(Oracle(), [(f"u{i}", "rightly") for i in range(20)])
    topics.produce(topic_name, shown)
    reader = follow()

    def folds_all():
        return reader.additions == 0 and is_fresh(reader, sent)

    sent = now_ms()
    wait_until(folds_all, "the snapshots hold what was shown", 60)
    topics.produce(topic_name, one_by_one(Oracle(), [(f"u{i}", "astray") for i in range(20)]), "consistent")
    assert wait_until(lambda: seend.metric_sum("seen_events_misrouted_total"), "some are misrouted", 30) > 0
    sent = now_ms()
    wait_until(folds_all, "the snapshots hold what was misrouted", 60)
    for reads in (reader, follow()):
        wait_until(lambda reads=reads: is_fresh(reads, sent), "a reader is fresh", 60)
        assert [u for u, _ in shown if reads.unseen(u, ["rightly", "astray"])] == []


def test_what_is_taken_back_leaves_the_answers(topics, daemon, topic_name, follow):
    topics.create(topic_name, partitions=PARTITIONS)
    # An erased user has no snapshot that says so: the next round of the refresh does.
    seend = daemon(topic_name, with_updates(topic_name, refresh_s=1)).start()
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "kept"), ("u", "gone"), ("w", "gone")]))
    reader = follow()
    wait_until(
        lambda: reader.unseen("u", ["gone"]) == [] and reader.unseen("w", ["gone"]) == [], "all is seen", 60
    )
    assert seend.http.post("/v1/users/u/removed", {"items": ["gone"]}).status == 202
    assert seend.http.delete("/v1/users/w").status == 202
    wait_until(lambda: reader.unseen("u", ["gone", "kept"]) == ["gone"], "the item is taken back", 60)
    wait_until(lambda: reader.unseen("w", ["gone"]) == ["gone"], "the user is forgotten", 60)
    topics.produce(topic_name, one_by_one(Oracle(), [("w", "gone")]))
    wait_until(lambda: reader.unseen("w", ["gone"]) == [], "what is shown later counts", 60)


def test_kills_leave_no_gap_and_no_reader_claims_too_much(topics, daemon, topic_name, follow):
    """Each event is checked once the reader claims to know all that was shown until then."""
    topics.create(topic_name, partitions=PARTITIONS)
    seend = daemon(topic_name, with_updates(topic_name)).start()
    topics.produce(topic_name, one_by_one(Oracle(), [(f"u{i}", "first") for i in range(50)]))
    reader = follow()
    wait_until(lambda: is_fresh(reader, now_ms() - 5_000), "the reader is fresh", 60)
    stop, wrong, shown = threading.Event(), [], []

    def show():
        for number in range(10_000):
            if stop.is_set():
                return
            user, item = f"u{number % 50}", f"i{number}"
            topics.produce(topic_name, one_by_one(Oracle(), [(user, item)]))
            shown.append((now_ms(), user, item))
            time.sleep(0.005)

    def ask():
        at = 0
        while not (stop.is_set() and at == len(shown)):
            as_of = reader.as_of() or 0
            while at < len(shown) and shown[at][0] <= as_of:
                if reader.unseen(shown[at][1], [shown[at][2]]):
                    wrong.append(shown[at])
                at += 1
            time.sleep(0.01)

    threads = [threading.Thread(target=work, daemon=True) for work in (show, ask)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        before = len(shown)
        wait_until(lambda: len(shown) > before + 100, "events were shown", 60)
        seend.kill9()
        seend.start()
    stop.set()
    for thread in threads:
        thread.join(timeout=90)
        assert not thread.is_alive(), f"the reader's as_of is {reader.as_of()}, now {now_ms()}"
    assert not wrong
    assert len(shown) > 300


def test_updates_are_switched_on_and_off(topics, daemon, topic_name, follow):
    topics.create(topic_name, partitions=PARTITIONS)
    config = with_updates(topic_name)
    config["filters"][0]["snapshot"]["updates"] = False
    seend = daemon(topic_name, config).start()
    oracle = Oracle()
    topics.produce(topic_name, one_by_one(oracle, [(f"u{i}", "first") for i in range(20)]))
    seend.wait_at_rest()
    seend.stop()
    seend.config["filters"][0]["snapshot"]["updates"] = True
    seend.start()
    reader = follow()
    topics.produce(topic_name, one_by_one(oracle, [(f"u{i}", "second") for i in range(20)]))
    sent = now_ms()
    wait_until(lambda: is_fresh(reader, sent), "the reader is fresh", 60)
    check(reader, oracle)
    seend.stop()
    seend.config["filters"][0]["snapshot"]["updates"] = False
    seend.start()
    wait_until(lambda: reader.as_of() is None, "the reader says that nothing keeps it fresh any more", 60)
    check(reader, oracle)


def test_a_topic_of_updates_with_too_few_partitions_is_named_with_the_command_that_mends_it(
    topics, daemon, topic_name, follow
):
    topics.create(topic_name, partitions=PARTITIONS)
    updates = f"{topic_name}-updates"
    topics.create(updates, partitions=1)
    seend = daemon(topic_name, with_updates(topic_name, refresh_s=1))
    remedy = f"--alter --topic {updates} --partitions {PARTITIONS}"
    said = seend.refuses()
    assert "(updates.topic) has 1 partitions" in said and remedy in said, said
    topics.add_partitions(updates, PARTITIONS)
    seend.start()
    topics.produce(topic_name, one_by_one(Oracle(), [(f"u{i}", "first") for i in range(20)]))
    sent = now_ms()
    reader = follow()
    wait_until(lambda: is_fresh(reader, sent), "the reader is fresh", 60)

    # Made anew with one partition while the daemon runs.
    topics.delete(updates)
    topics.create(updates, partitions=1)

    def troubles():
        return " ".join((seend.status() or {"troubles": []})["troubles"])

    seend.wait(
        lambda: "(updates.topic) takes no records of partitions" in troubles(), "the refusal is named", 120
    )
    seend.wait(lambda: remedy in troubles(), "the remedy is named", 120)
    topics.add_partitions(updates, PARTITIONS)
    seend.wait(lambda: "updates.topic" not in troubles(), "the trouble is over", 120)
    topics.produce(topic_name, one_by_one(Oracle(), [(f"u{i}", "second") for i in range(20)]))
    sent = now_ms()
    other = follow()
    wait_until(lambda: is_fresh(other, sent), "a reader that begins now is fresh", 60)
    assert "additions were dropped" in seend.log() and "created again" in seend.log()


def test_a_limit_of_records_in_kafka_client_is_not_one_of_updates(topics, daemon, topic_name, follow):
    topics.create(topic_name, partitions=PARTITIONS)
    config = with_updates(topic_name) | {"kafka": {"client": {"message.max.bytes": "4000"}}}
    seend = daemon(topic_name, config).start()
    reader = follow()
    oracle = Oracle()
    # One record of updates for each partition, of some ten thousand bytes.
    shown = one_by_one(oracle, [(f"u{i}", f"i{j}") for i in range(20) for j in range(150)])
    topics.produce(topic_name, shown)
    sent = now_ms()
    wait_until(lambda: is_fresh(reader, sent), "the reader is fresh", 60)
    check(reader, oracle)
    metrics = seend.metrics()
    assert seend.metric_sum("seen_update_gaps_total") == 0, metrics
    assert seend.metric_sum("seen_update_bytes_total") > 4_000
