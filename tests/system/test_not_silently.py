"""Faults that must not pass silently: lost ranges, recreated topics, lost disks, second processes, misrouted
events."""

import shutil

import pytest

from hashes import partition_of
from load import Load, one_by_one
from oracle import Oracle
from places import wait_until


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
