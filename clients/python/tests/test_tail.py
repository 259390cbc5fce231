"""The tail of updates when the snapshot topic changes; its polls bring what the test says.
tests/system/test_client_python.py runs it with a real Kafka."""

import logging
import queue
import time
import types

import pytest

from test_filter_reader import base, published

confluent_kafka = pytest.importorskip("confluent_kafka")
import tail_snapshots  # noqa: E402


def until(condition, timeout_s=10):
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Message:
    def __init__(self, topic, partition, offset, key=b"", value=None, is_end=False):
        self._topic, self._partition, self._offset, self._key, self._value = (
            topic,
            partition,
            offset,
            key,
            value,
        )
        self._error = (
            types.SimpleNamespace(code=lambda: confluent_kafka.KafkaError._PARTITION_EOF) if is_end else None
        )

    def topic(self):
        return self._topic

    def partition(self):
        return self._partition

    def offset(self):
        return self._offset

    def key(self):
        return self._key

    def value(self):
        return self._value

    def error(self):
        return self._error


class Polls:
    """A consumer whose polls bring what the test says."""

    def __init__(self, _settings):
        self.waiting, self.calls = queue.Queue(), []

    def list_topics(self, topic, timeout):
        partitions = range(1 if topic == "marks" else 2)
        return types.SimpleNamespace(topics={topic: types.SimpleNamespace(error=None, partitions=partitions)})

    def assign(self, partitions):
        self.calls += [("+", one.topic, one.partition, one.offset) for one in partitions]

    incremental_assign = assign

    def incremental_unassign(self, partitions):
        self.calls += [("-", one.topic, one.partition) for one in partitions]

    def consume(self, _records, timeout):
        try:
            return self.waiting.get(timeout=timeout)
        except queue.Empty:
            return []

    def close(self):
        pass

    def bring(self, *messages):
        """Returns once the tail has taken them."""
        self.calls.clear()
        self.waiting.put(messages)
        self.waiting.put([])
        until(self.waiting.empty)


@pytest.fixture
def tail(monkeypatch):
    monkeypatch.setattr(tail_snapshots, "Consumer", Polls)
    made = tail_snapshots.UpdatesTail("no brokers", "here", "marks", "updates", "default", 100)
    yield made
    made.close()


def beat_of(partition, log, published_to=10, **members):
    key, value = base(published_to, partition=partition, snapshots_log={"default": log}, **members)
    return Message("marks", 0, 0, key, value)


def snapshot_at(partition, offset, user):
    return Message("here", partition, offset, user.encode(), published("x", input_offset=5))


def end_at(topic, partition, offset):
    return Message(topic, partition, offset, is_end=True)


def test_a_tail_starts_over_once_in_another_log_and_takes_nothing_from_before(tail, monkeypatch):
    reader, polls, restarts = tail.reader, tail._consumer, []
    restart = reader.snapshots_restart
    monkeypatch.setattr(
        reader, "snapshots_restart", lambda number: (restarts.append(number), restart(number))
    )
    polls.bring(*(beat_of(number, log) for log in (1, 2) for number in (0, 1, 7)), end_at("marks", 0, 6))
    assert restarts == [0, 1] and [call[:3] for call in polls.calls] == [
        *(("+", "here", 0), ("+", "here", 1)),
        *(("+", "updates", 0), ("+", "updates", 1)),
    ], "nothing had been read"
    polls.bring(*(snapshot_at(number, 0, "u") for number in (0, 1)), end_at("here", 0, 1))
    assert reader.complete_to(0) == 10

    stale = snapshot_at(0, 1, "stale"), end_at("here", 0, 2)
    polls.bring(beat_of(0, 3, 20), *stale, snapshot_at(1, 1, "other"), beat_of(0, 3, 20))
    assert polls.calls == [("-", "here", 0), ("+", "here", 0, confluent_kafka.OFFSET_BEGINNING)]
    assert restarts == [0, 1, 0] and reader.complete_to(0) is None
    assert not reader.might_contain("stale", "x") and reader.might_contain("other", "x")

    polls.bring(snapshot_at(0, 0, "v"), end_at("here", 0, 1), beat_of(0, 3, 20))
    assert reader.might_contain("v", "x") and reader.complete_to(0) == 20
    assert restarts == [0, 1, 0] and polls.calls == []
    polls.bring(snapshot_at(0, 0, "v"))
    assert restarts == [0, 1, 0, 0], "the offsets went back"


def test_a_tail_says_once_that_the_filter_has_moved(tail, caplog):
    polls = tail._consumer
    with caplog.at_level(logging.WARNING, logger="seen"):
        for topic in ("here", "there", "there"):
            polls.bring(*(beat_of(number, 0, snapshots_topic={"default": topic}) for number in (0, 1)))
    said = [record.getMessage() for record in caplog.records]
    assert said == ["filter default has moved to topic there: read that one"]
