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
from confluent_kafka import KafkaException  # noqa: E402


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

    watermarks = 1  # partitions

    def __init__(self, _settings):
        self.waiting, self.calls, self.fails_to_assign = queue.Queue(), [], False

    def list_topics(self, topic, timeout):
        partitions = range(self.watermarks if topic == "marks" else 2)
        return types.SimpleNamespace(topics={topic: types.SimpleNamespace(error=None, partitions=partitions)})

    def assign(self, partitions):
        if self.fails_to_assign:
            raise KafkaException("can't assign")
        self.calls += [("+", one.topic, one.partition, one.offset) for one in partitions]

    incremental_assign = assign

    def incremental_unassign(self, partitions):
        self.calls += [("-", one.topic, one.partition) for one in partitions]

    def consume(self, _records, timeout):
        try:
            polled = self.waiting.get(timeout=timeout)
        except queue.Empty:
            return []
        if isinstance(polled, Exception):
            raise polled
        return polled

    def close(self):
        pass

    def bring(self, *messages):
        """Returns once the tail has taken them."""
        self.calls.clear()
        self.waiting.put(messages)
        self.waiting.put([])
        until(self.waiting.empty)


@pytest.fixture
def tail(monkeypatch, request):
    monkeypatch.setattr(tail_snapshots, "Consumer", Polls)
    monkeypatch.setattr(Polls, "watermarks", getattr(request, "param", 1))
    made = tail_snapshots.UpdatesTail("no brokers", "here", "marks", "updates", "default", 100)
    yield made
    made.close()


def beat_of(partition, log, published_to=10, *, beats_in=0, **members):
    key, value = base(published_to, partition=partition, snapshots_log={"default": log}, **members)
    return Message("marks", beats_in, 0, key, value)


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
    polls.bring(end_at("marks", 0, 7))
    assert reader.complete_to(0) == 10

    stale = snapshot_at(0, 1, "stale"), end_at("here", 0, 2)
    polls.bring(beat_of(0, 3, 20), *stale, snapshot_at(1, 1, "other"), beat_of(0, 3, 20))
    assert polls.calls == [("-", "here", 0), ("+", "here", 0, confluent_kafka.OFFSET_BEGINNING)]
    assert restarts == [0, 1, 0] and reader.complete_to(0) is None
    assert not reader.might_contain("stale", "x") and reader.might_contain("other", "x")

    polls.bring(snapshot_at(0, 0, "v"), end_at("here", 0, 1), beat_of(0, 3, 20))
    polls.bring(end_at("marks", 0, 8))
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


def test_an_end_of_the_snapshots_counts_once_the_beats_have_been_read_to_an_end_behind_it(tail):
    reader, polls = tail.reader, tail._consumer
    polls.bring(beat_of(0, 1), beat_of(1, 1), end_at("marks", 0, 2))
    polls.bring(snapshot_at(0, 0, "u"), end_at("here", 0, 1))
    polls.bring(snapshot_at(0, 1, "v"), beat_of(0, 1, 20), end_at("updates", 0, 0))
    assert reader.complete_to(0) is None
    polls.bring(end_at("marks", 0, 3))
    assert reader.complete_to(0) == 20, "the reader has read on since"
    assert reader.complete_to(1) is None

    polls.bring(end_at("here", 0, 2), beat_of(0, 2, 30), end_at("marks", 0, 4))
    assert reader.complete_to(0) is None, "an end of the log before"
    polls.bring(snapshot_at(0, 0, "u"), end_at("here", 0, 1), snapshot_at(0, 0, "u"), end_at("marks", 0, 5))
    assert reader.complete_to(0) is None, "the offsets went back"
    polls.bring(end_at("here", 0, 1), end_at("marks", 0, 6))
    assert reader.complete_to(0) == 30


@pytest.mark.parametrize("tail", [2], indirect=True)
def test_the_end_of_the_partition_that_has_the_beats_is_the_one_that_counts(tail):
    reader, polls = tail.reader, tail._consumer
    polls.bring(beat_of(0, 1), end_at("marks", 0, 1))
    assert polls.calls == [], "beats of the other one may be unread"
    polls.bring(beat_of(1, 1, beats_in=1), end_at("marks", 1, 1))
    assert len(polls.calls) == 4
    polls.bring(end_at("here", 0, 1), end_at("here", 1, 1), end_at("marks", 1, 2))
    assert (reader.complete_to(0), reader.complete_to(1)) == (None, 10)
    polls.bring(end_at("marks", 0, 2))
    assert reader.complete_to(0) == 10


def test_a_tail_goes_on_after_failures_of_its_client(tail, caplog):
    reader, polls = tail.reader, tail._consumer
    tail.pause_s = 0.01
    with caplog.at_level(logging.WARNING, logger="seen"):
        polls.bring(beat_of(0, 1), end_at("marks", 0, 1))
        polls.waiting.put(KafkaException("can't poll"))
        polls.bring(snapshot_at(0, 0, "u"))
        assert reader.might_contain("u", "x")

        polls.fails_to_assign = True
        polls.bring(beat_of(0, 2), snapshot_at(1, 0, "v"))
        assert reader.must_restart(0) and reader.might_contain("v", "x"), "the rest of the poll is taken"
        polls.fails_to_assign = False
        polls.bring(beat_of(0, 2))
        assert not reader.must_restart(0)
    failures = [said for said in caplog.messages if said.startswith("Kafka: ")]
    assert failures == ["Kafka: can't poll", "Kafka: can't assign"]
