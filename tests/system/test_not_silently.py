"""Faults that must not pass silently: lost ranges, recreated topics, lost disks, second processes, misrouted
events."""

import shutil

import pytest
from faults import clock_ahead

from hashes import partition_of
from http_json import user_path
from item_stream import Items, item, text_of
from load import Load, one_by_one
from oracle import Oracle, event
from places import now_ms, wait_until


@pytest.fixture
def filled(topics, started, topic_name, chance):
    """A daemon that has read 400 records of a topic with two partitions, and was stopped at rest."""
    load = Load(chance, users=40)
    seend = started()
    load.send(topics, topic_name, 400)
    ends = seend.wait_at_rest()
    seend.stop()
    return seend, load, ends


def test_records_that_retention_deleted_unread_are_counted_shown_and_acknowledged(
    kafka, topics, filled, topic_name
):
    seend, load, ends = filled
    lost = Load(load.chance, users=40)  # a separate oracle: the daemon never reads these
    lost.send(topics, topic_name, 300)
    gone = topics.end_offsets(topic_name)
    kafka.delete_records(topic_name, gone)
    load.send(topics, topic_name, 200)
    seend.start()
    seend.wait_at_rest()
    load.oracle.check_http(seend)

    def ranges():
        return {
            p: [(r["from_offset"], r["to_offset"]) for r in s["lost_ranges"]]
            for p, s in seend.partition_status().items()
        }

    expected = {p: [(ends[p], gone[p])] for p in ends}
    assert ranges() == expected
    for p in ends:
        assert seend.metrics()[f'seen_lost_messages_total{{partition="{p}"}}'] == gone[p] - ends[p]
    assert "lost" in seend.log().lower()

    seend.stop()
    seend.start()
    assert ranges() == expected, "until acknowledged, whatever happens"
    for more in ([], ["--json"]):
        shown = seend.seenctl("status", "--lost", *more, status=1)[0]
        assert all(str(ends[p]) in shown and str(gone[p]) in shown for p in ends), shown
    assert "acknowledged" in seend.seenctl("status", "--lost", "--acknowledge")[0]
    assert "no lost messages" in seend.seenctl("status", "--lost")[0]
    wait_until(lambda: ranges() == {p: [] for p in ends}, "acknowledged ranges are gone")
    load.send(topics, topic_name, 20)
    seend.wait_at_rest()
    seend.stop()
    seend.start()
    assert ranges() == {p: [] for p in ends}


@pytest.mark.parametrize("records", [10, 2_000], ids=["shorter", "longer"])
def test_a_recreated_topic_with_other_records_is_refused(topics, filled, topic_name, records):
    seend, load, _ = filled
    topics.delete(topic_name)
    topics.create(topic_name)
    load.send(topics, topic_name, records)
    said = seend.start(ready=False).wait_refused([0, 1])
    assert "recreated" in said and "rebuild" in said, said
    assert f'partition 0 of "{topic_name}" is refused' in seend.wait_not_ready().json()["detail"]
    assert seend.metric_sum("seen_partitions_refused") == 2


def test_a_rebuild_after_a_recreated_topic_starts_over(topics, filled, topic_name, chance):
    seend, _, _ = filled
    topics.delete(topic_name)
    topics.create(topic_name)
    again = Load(chance, users=40)
    again.send(topics, topic_name, 2_000)
    seend.start("--rebuild")
    seend.wait_at_rest()
    again.oracle.check_http(seend)


def check_added_partitions(seend, load, added):
    """Checks that users keep their partitions, and that the daemon refuses the added ones and says so."""
    said = seend.wait_refused(added)
    assert "reshard" in said and "added" in said, said
    ready = seend.get("/readyz")
    assert ready.status == 200 and f"partition {added[0]} of " in ready.text and "is refused" in ready.text
    load.oracle.check_http(seend)


def test_added_partitions_are_refused_and_the_others_go_on(topics, filled, topic_name):
    seend, load, _ = filled
    topics.add_partitions(topic_name, 5)
    seend.start(ready=False)
    check_added_partitions(seend, load, [2, 3, 4])


def test_partitions_that_are_added_while_it_runs_are_refused_and_the_others_go_on(
    topics, started, topic_name, chance
):
    seend = started({"kafka": {"client": {"topic.metadata.refresh.interval.ms": "1000"}}})
    load = Load(chance, users=10)
    load.send(topics, topic_name, 100)
    seend.wait_at_rest()
    topics.add_partitions(topic_name, 3)
    check_added_partitions(seend, load, [2])


def test_a_lost_disk_is_read_again_while_the_topic_holds_the_window(topics, filled, topic_name):
    seend, load, _ = filled
    shutil.rmtree(seend.store)
    seend.start()
    seend.wait_at_rest()
    assert "state is missing" in seend.log()
    load.oracle.check_http(seend)
    load.oracle.check_published(topics, f"{topic_name}-filters", 2)


def test_a_lost_disk_is_read_from_what_the_topic_holds_and_the_rest_is_shown_as_lost(
    kafka, topics, filled, topic_name
):
    seend, load, ends = filled
    shutil.rmtree(seend.store)
    kafka.delete_records(topic_name, {p: end - 1 for p, end in ends.items()})
    seend.start()
    seend.wait_at_rest()
    for p, status in seend.partition_status().items():
        assert [(r["from_offset"], r["to_offset"]) for r in status["lost_ranges"]] == [(0, ends[p] - 1)]
        assert status["filters"][0]["complete_since"] is not None
    for user in load.oracle.users():  # from the snapshots that were published before
        assert seend.unseen(user, sorted(load.oracle.items(user))) == []


def test_a_second_process_on_the_same_store_is_refused_and_the_first_goes_on(
    topics, filled, daemon, topic_name
):
    seend, load, _ = filled
    seend.start()
    second = daemon(topic_name, {"store": {"directory": str(seend.store)}}, name="second")
    said = second.refuses()
    assert str(seend.store) in said, said
    load.send(topics, topic_name, 100)
    seend.wait_at_rest()
    assert seend.get("/readyz").status == 200
    load.oracle.check_http(seend)


def test_misrouted_events_are_counted_and_named_with_the_remedy(topics, daemon, topic_name):
    topics.create(topic_name, partitions=4)
    seend = daemon(topic_name).start()  # expects murmur2
    users = [f"user-{i}" for i in range(200)]
    oracle = Oracle()
    topics.produce(topic_name, one_by_one(oracle, [(u, "i") for u in users]), partitioner="consistent")
    seend.wait_caught_up()
    strays = [u for u in users if partition_of(u, 4, "crc32") != partition_of(u, 4, "murmur2")]
    assert seend.metric_sum("seen_events_misrouted_total") == len(strays) > 100
    statuses = seend.partition_status()
    assert sum(s["misrouted"] for s in statuses.values()) == len(strays)
    example = next(s["misrouted_last"] for s in statuses.values() if s["misrouted"])
    assert "partitioner" in example["remedy"] and "crc32" in example["remedy"]
    lines = seend.log().count("in another partition than its user's")
    assert 0 < lines < 50, "logged, and the log is rate-limited"
    at_home = [u for u in users if u not in strays]
    oracle.check_http(seend, users=at_home)


def loss_troubles(seend):
    causes = [cause for loss in seend.status()["losses"] for cause in loss["causes"]]
    return [cause["trouble"] for cause in causes if cause["trouble"]]


def trouble_of(seend, part):
    """The trouble with `part` in its text, once the daemon has it; it is ready nevertheless, and its screen shows
    the trouble."""
    found = lambda: next((t for t in seend.status()["troubles"] if part in t), None)  # noqa: E731
    trouble = wait_until(found, f"a trouble says: {part}", 60)
    assert seend.get("/readyz").status == 200, "the state that exists answers"
    shown = seend.seenctl("status", status=1)[0]
    assert shown.startswith("READY, with troubles") and f"  ! {trouble}\n" in shown, shown
    return trouble


def test_events_in_seconds_ask_for_the_unit_once_there_are_a_hundred(topics, started, topic_name):
    seend = started(partitions=2)
    at = now_ms() // 1000
    send = lambda users: topics.produce(topic_name, [(u, event(u, "i", at)) for u in users])  # noqa: E731
    send([f"user-{i}" for i in range(99)])
    wait_until(lambda: seend.status()["losses"][0]["events"] == 99, "99 are read", 60)
    assert loss_troubles(seend) == []
    send([f"user-{i}" for i in range(101)])
    wait_until(lambda: seend.status()["losses"][0]["events"] == 200, "200 are read", 60)
    trouble_of(seend, "100% of events are before 1971: is the unit of exposed_at right?")
    (loss,) = seend.status()["losses"]
    too_old = next(cause for cause in loss["causes"] if cause["cause"] == "too_old")
    assert (too_old["share"], too_old["share_max"]) == (1.0, 0.05)
    label = f'{{topic="{topic_name}",cause="too_old"}}'
    assert seend.metrics()[f"seen_lost_share_excessive{label}"] == 1
    assert seend.metrics()[f"seen_lost_share{label}"] == 1
    wait_until(lambda: "events are lost" in seend.log(), "the log says so", 120)
    send([f"user-{i}" for i in range(100)])
    wait_until(lambda: seend.status()["losses"][0]["events"] == 300, "all are read", 60)
    assert seend.log().count("events are lost") == 1, "one line by cause"


@pytest.mark.parametrize("keyed", [True, False])
def test_events_that_are_all_rejected_are_named_with_what_is_wrong(topics, started, topic_name, keyed):
    """Also where the input is re-keyed: its records are rejected on the way."""
    seend = started({"input": {"keyed_by_user": keyed}}, partitions=2)
    users = [f"user-{i}" for i in range(2_000)]
    topics.produce(topic_name, [(u, event(u, "i", "2026-11-21T10:00:00Z")) for u in users])
    trouble = trouble_of(seend, "2,000 read, 2,000 rejected (exposed_at: ")
    assert trouble.startswith(f'events of "{topic_name}": ') and trouble.endswith("): seenctl dead-letters")


def test_a_filter_that_no_event_reaches_is_named_though_another_has_them_all(topics, started, topic_name):
    filters = {
        "filters": [
            {"name": "all", "snapshot": None},
            {"name": "home", "scenes": ["hmoe"], "snapshot": None},
        ]
    }
    seend = started(filters | {"input": {"loss": {"unreached_events_min": 20}}})

    def send(count, scene):
        topics.produce(topic_name, [("u", event("u", f"n{i}", now_ms(), scene=scene)) for i in range(count)])
        seend.wait_at_rest()

    send(19, "home")
    assert loss_troubles(seend) == []
    send(1, "home")
    missed = f'none of 20 events in "{topic_name}" reached filter "home"'
    trouble_of(seend, missed)
    wait_until(lambda: "events are lost" in seend.log(), "the log says so", 120)
    send(1, "hmoe")
    assert loss_troubles(seend) == [], "one event is enough"


def test_a_clock_by_which_all_events_are_out_of_their_windows_is_asked_for(topics, daemon, topic_name):
    topics.create(topic_name)
    seend = daemon(topic_name)
    seend.environment = clock_ahead(seend.directory, 40 * 24)
    seend.start()
    topics.produce(topic_name, [("u", event("u", f"n{i}", now_ms())) for i in range(150)])
    trouble = trouble_of(seend, "is the clock of this machine or of the producers wrong?")
    assert trouble.startswith(f'all events that come to "{topic_name}" are older than every window')


def test_what_a_replay_loses_is_no_trouble(topics, started, topic_name):
    seend = started(partitions=1)
    old = [(f"user-{i}", event(f"user-{i}", "i", now_ms() // 1000)) for i in range(200)]
    replayed = [(*record, {"headers": {"seen-replay": "run-1"}}) for record in old]
    topics.produce(topic_name, [*replayed, ("u", event("u", "i", now_ms()))])
    wait_until(lambda: seend.metric_sum("seen_events_too_old_total") == 200, "the history is read", 60)
    wait_until(lambda: seend.status()["losses"][0]["events"] == 1, "the live event is read", 60)
    assert loss_troubles(seend) == []


@pytest.mark.parametrize("used, named", [("consistent_random", "crc32"), ("fnv1a_random", "fnv1a")])
def test_a_partitioner_of_other_clients_is_named(topics, started, topic_name, used, named):
    seend = started(partitions=4)
    users = [f"user-{i}" for i in range(2_000)]
    topics.produce(topic_name, [(u, event(u, "i", now_ms())) for u in users], partitioner=used)
    strays = sum(partition_of(u, 4, named) != partition_of(u, 4) for u in users)
    wait_until(lambda: seend.status()["losses"][0]["events"] == 2_000, "all are read", 60)
    trouble = trouble_of(seend, "in another partition than their user's")
    assert trouble.endswith(f'records looked at: set input.partitioner to "{named}"'), trouble
    assert f"{strays:,} of 2,000 in" in trouble
    shown = seend.seenctl("status", status=1)[0]
    assert f"misrouted   {strays:,} events since the start: look-ups miss these events" in shown, shown


def test_what_stands_behind_an_open_transaction_is_missing_and_the_age_says_so(topics, started, topic_name):
    """Readers of committed records get no further than the first open transaction, whoever left it open."""
    seend = started(partitions=1)
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "old")]))
    seend.wait_at_rest()
    begins = topics.end_offsets(topic_name)[0]
    with topics.open_transaction(topic_name, [("v", event("v", "uncommitted", now_ms()))]):
        topics.produce(topic_name, one_by_one(Oracle(), [("u", "acknowledged")]))
        wait_until(lambda: (seend.partition_status()[0]["age_ms"] or 0) >= 5_000, "the age grows", 60)
        refused = seend.get(user_path("u") + "?max_age_ms=1000")
        assert refused.status == 503 and "max_age_ms = 1000" in refused.json()["detail"], refused.body
        assert seend.unseen("u", ["old", "acknowledged"]) == ["acknowledged"]
        says = f'partition 0 of "{topic_name}" waits at offset {begins} since '
        trouble = wait_until(
            lambda: next((t for t in seend.status()["troubles"] if t.startswith(says)), None),
            "it is named",
            60,
        )
        assert f"abort --topic {topic_name} --partition 0 --start-offset {begins}" in trouble
        one = seend.status()["open_transactions"][0]
        assert (one["partition"], one["offset"], one["messages"]) == (0, begins, 2)
    wait_until(lambda: seend.unseen("u", ["acknowledged"]) == [], "it is read on", 60)
    wait_until(lambda: seend.get(user_path("u") + "?max_age_ms=2000").status == 200, "and fresh", 60)
    wait_until(lambda: not seend.status()["open_transactions"], "the trouble is over", 60)


def test_open_transactions_of_a_source_and_of_items_are_named(topics, daemon, topic_name):
    items = Items(topics, topic_name)
    seend = daemon(topic_name, {"input": {"keyed_by_user": False}, **items.config()}).start()
    topics.produce(topic_name, one_by_one(Oracle(), [("u", "old")]))
    items.send(item("n1", text_of(1)))
    seend.wait_at_rest()
    items.wait_at_rest(seend)
    with (
        topics.open_transaction(topic_name, [("u", event("u", "new", now_ms()))]),
        topics.open_transaction(items.topic, [("n2", item("n2", text_of(2)))]),
    ):
        status = wait_until(
            lambda: (
                (s := seend.status())["rekeying"]["open_transactions"]
                and s["items"]["open_transactions"]
                and s
            ),
            "both are named",
            60,
        )
        for topic in (topic_name, items.topic):
            assert any(f'partition 0 of "{topic}" waits at offset 1' in t for t in status["troubles"]), topic
    wait_until(lambda: seend.unseen("u", ["new"]) == [], "it is read on", 60)
