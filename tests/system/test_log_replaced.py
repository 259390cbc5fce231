"""A topic that is deleted, made again and filled beyond the old end, under a daemon that runs: refused, never read on."""


import pytest

from load import Load
from places import wait_until


def refused(seend):
    """The daemon says which topic it doesn't read on, whether it ends or stops the partition alone."""
    def said():
        log = seend.log()
        return "recreated" in log and "rebuild" in log
    wait_until(said, "it refuses to read another log on", 60)


@pytest.fixture
def reading(topics, daemon, topic_name, chance):
    topics.create(topic_name)
    seend = daemon(topic_name, {"kafka": {"client": {"topic.metadata.refresh.interval.ms": "1000"}}}).start()
    Load(chance, users=40).send(topics, topic_name, 400)
    seend.wait_at_rest()
    return seend


def replace(topics, topic_name, chance):
    topics.delete(topic_name)
    topics.create(topic_name)
    Load(chance, users=40).send(topics, topic_name, 4_000)


def test_while_it_stands_still_and_the_broker_restarts(kafka, topics, reading, topic_name, chance):
    with reading.standing_still():
        replace(topics, topic_name, chance)
        kafka.restart()
    refused(reading)


def test_a_broker_that_restarts_with_the_same_log_is_read_on(kafka, topics, reading, topic_name, chance):
    kafka.restart()
    more = Load(chance, users=5)
    more.send(topics, topic_name, 100)
    reading.wait_at_rest()
    assert reading.alive() and "recreated" not in reading.log()
