"""A topic is deleted, created again and filled beyond the old end while a daemon runs. The daemon must
refuse to read on."""

import re
import time

import pytest

from load import Load
from places import now_ms, wait_until


def refused(seend, meanwhile=lambda: None):
    """Waits until the daemon says that it refuses the topic. It may end, or stop only the partition."""

    def said():
        assert not seend.has_crashed(), "the daemon crashed"
        meanwhile()
        log = seend.log()
        return "recreated" in log and "rebuild" in log

    wait_until(said, "it refuses to read another log on", 60)


@pytest.fixture
def reading(topics, started, topic_name, chance):
    seend = started({"kafka": {"client": {"topic.metadata.refresh.interval.ms": "1000"}}})
    Load(chance, users=40).send(topics, topic_name, 400)
    seend.wait_at_rest()
    return seend


def replace(topics, topic_name, chance):
    topics.delete(topic_name)
    topics.create(topic_name)
    Load(chance, users=40).send(topics, topic_name, 4_000)


def test_while_it_runs(topics, reading, topic_name, chance):
    replace(topics, topic_name, chance)
    refused(reading)


def test_while_it_stands_still(topics, reading, topic_name, chance):
    with reading.standing_still():
        replace(topics, topic_name, chance)
    refused(reading)


def test_while_nothing_comes_to_show_it(topics, reading, topic_name, chance):
    """The new log has the same length. So no new record shows the change: only the last record read is
    another one."""
    ends = topics.ends(topic_name)
    with reading.standing_still():
        topics.delete(topic_name)
        topics.create(topic_name)
        for partition, (_, end) in ends.items():
            topics.produce(topic_name, [("k", "another", {"partition": partition}) for _ in range(end)])
    refused(reading)


@pytest.mark.parametrize("records", [10, None], ids=["shorter", "as long"])
def test_nothing_is_fresh_after_a_pause_before_the_log_was_checked(topics, reading, topic_name, records):
    """The end of another log says nothing about what was read. So ages grow until the daemon refuses."""
    ends = topics.ends(topic_name)
    wait_until(lambda: all(s["age_ms"] is not None for s in reading.partition_status().values()), "ages")
    with reading.standing_still():
        stopped = now_ms()
        topics.delete(topic_name)
        topics.create(topic_name)
        for partition, (_, end) in ends.items():
            another = [("k", "another", {"partition": partition}) for _ in range(records or end)]
            topics.produce(topic_name, another)
        wait_until(lambda: now_ms() - stopped >= 3_000, "the pause is as long as the fault needs")

    def no_answer_is_fresh():
        asked = now_ms()
        try:
            partitions = reading.http.get("/v1/status").json()["partitions"]
        except OSError:  # it may have ended
            return
        for partition in partitions:
            if partition["answers"] and partition["age_ms"] is not None:
                assert partition["age_ms"] >= asked - stopped, partition

    refused(reading, no_answer_is_fresh)


def test_while_it_stands_still_and_the_broker_restarts(kafka, topics, reading, topic_name, chance):
    with reading.standing_still():
        replace(topics, topic_name, chance)
        kafka.restart()
    refused(reading)


def test_a_log_whose_last_record_was_deleted_is_read_on(kafka, topics, reading, topic_name, chance):
    checked = reading.metric_sum("seen_log_checks_total")
    wait_until(
        lambda: reading.metric_sum("seen_log_checks_total") > checked, "the last records are read again", 30
    )
    kafka.delete_records(topic_name, topics.end_offsets(topic_name))
    time.sleep(12)  # a check runs every 10 s and finds no record to compare
    more = Load(chance, users=5)
    more.send(topics, topic_name, 100)
    reading.wait_at_rest()
    assert reading.alive() and "recreated" not in reading.log()
    assert reading.metric_sum("seen_partitions_refused") == 0


def test_a_broker_that_restarts_with_the_same_log_is_read_on(kafka, topics, reading, topic_name, chance):
    kafka.restart()
    more = Load(chance, users=5)
    more.send(topics, topic_name, 100)
    reading.wait_at_rest()
    assert reading.alive() and "recreated" not in reading.log()
