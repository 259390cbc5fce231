#!/usr/bin/env python3
"""Answers from a local copy of the snapshot topic, as long as it is fresh enough; else over HTTP; else by the
request.

    tail_snapshots.py --brokers 127.0.0.1:9092 --http http://127.0.0.1:8080 [--updates seen-updates]
    {"user":"u1","items":["n1","n2"],"also_seen":["n9"]}
    {"unseen": ["n2"], "from": "cache"}

One question a line in, one answer a line out. `from` is `cache`; or `http`, where the user isn't in the cache
or it is too stale; or `request`, where nobody answers: then the question's own `also_seen` counts, and a
stale snapshot where there is one, since what it has is right and only the latest is missing.

A filter with `snapshot.updates` needs `--updates`: then all its snapshots and its latest updates are kept."""

from __future__ import annotations

import argparse
import logging
import sys
import threading
import time
from collections.abc import Sequence

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from ask_over_http import Answer, AskError, SeenHttp, answer_lines, by_request, http_arguments
from seen_client import FilterReader, ItemId, Snapshot, SnapshotError, UpdateError, WatermarkError, Watermarks
from seen_client.clock import datetime_of
from snapshot_cache import SnapshotCache

log = logging.getLogger("seen")
RECORDS_A_POLL = 1_000


class TopicsTail:
    """Reads topics on a thread of its own.

    `caught_up` is set once what was there at the start has been read. Partitions that are added later aren't
    seen."""

    poll_s = 0.2  # at most, until so many records are there
    pause_s = 0.5  # after a poll that failed

    def __init__(self, brokers: str, snapshots_topic: str, watermarks_topic: str, **settings: object) -> None:
        """KafkaException if the brokers don't answer within 10 s; LookupError if there is no such topic."""
        self._snapshots_topic, self._watermarks_topic = snapshots_topic, watermarks_topic
        self._outdated: set[tuple[str, int]] = set()  # partitions, for the rest of a poll
        self.caught_up = threading.Event()
        self._stop = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": brokers,
                "group.id": "unused: it neither joins nor commits",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                **settings,
            }
        )
        snapshots, marks = self._partitions(snapshots_topic), self._partitions(watermarks_topic)
        if not snapshots:
            raise LookupError(f"topic {snapshots_topic}: not there")
        if not marks:
            log.warning(
                "topic %s: not there; snapshots are as fresh as they say themselves", watermarks_topic
            )
        self._to_read = {(p.topic, p.partition) for p in snapshots + marks}
        self._begin(snapshots, marks)
        self._thread = threading.Thread(target=self._run, name="tail", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._consumer.close()

    def _partitions(self, topic: str) -> list[TopicPartition]:
        known = self._consumer.list_topics(topic, timeout=10).topics[topic]
        return [] if known.error else [TopicPartition(topic, p, OFFSET_BEGINNING) for p in known.partitions]

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                messages = self._consumer.consume(RECORDS_A_POLL, timeout=self.poll_s)
            except KafkaException as error:
                log.warning("Kafka: %s", error)
                self._stop.wait(self.pause_s)
                continue
            self._outdated.clear()
            for message in messages:
                if (message.topic(), message.partition()) not in self._outdated:
                    self._take(message)
            if not self._to_read:
                self.caught_up.set()

    def _take(self, message: confluent_kafka.Message) -> None:
        error = message.error()
        try:
            if error is None:
                self._keep(message, message.key(), message.value())
            elif error.code() == KafkaError._PARTITION_EOF:
                self._to_read.discard((message.topic(), message.partition()))
                self._at_end(message)
            else:
                log.warning("Kafka: %s", error)  # it goes on trying; meanwhile everything grows stale
        except (SnapshotError, UpdateError, WatermarkError, UnicodeDecodeError, AttributeError) as error:
            # The one before it stays.
            log.warning("%s/%d@%d: %s", message.topic(), message.partition(), message.offset(), error)
        except KafkaException as error:  # the next beat asks again; the other messages must not be lost
            log.warning("Kafka: %s", error)

    def _begin(self, snapshots: list[TopicPartition], marks: list[TopicPartition]) -> None:
        """Assigns what is to be read first."""
        raise NotImplementedError

    def _read_again(self, partition: TopicPartition) -> None:
        """Goes to this offset. What was fetched before isn't taken any more, nor an end that was found.

        Unlike `seek`, this works in each state of the partition, such as right after it was assigned."""
        self._consumer.incremental_unassign([partition])
        self._consumer.incremental_assign([partition])
        self._outdated.add((partition.topic, partition.partition))

    def _at_end(self, message: confluent_kafka.Message) -> None:
        """All of this partition has been read."""

    def _keep(self, message: confluent_kafka.Message, key: bytes | None, value: bytes | None) -> None:
        raise NotImplementedError


class Tail(TopicsTail):
    """Snapshots and watermarks from their beginning, into a cache."""

    def __init__(
        self,
        brokers: str,
        snapshots_topic: str,
        watermarks_topic: str,
        cache: SnapshotCache,
        watermarks: Watermarks,
    ) -> None:
        self._cache, self._watermarks = cache, watermarks
        super().__init__(brokers, snapshots_topic, watermarks_topic)

    def _begin(self, snapshots: list[TopicPartition], marks: list[TopicPartition]) -> None:
        self._consumer.assign(snapshots + marks)

    def _keep(self, message: confluent_kafka.Message, key: bytes | None, value: bytes | None) -> None:
        if message.topic() == self._watermarks_topic:
            self._watermarks.update(key, value)
        elif value is None:
            self._cache.forget(key.decode())
        else:
            self._cache.put(key.decode(), Snapshot(value))


class UpdatesTail(TopicsTail):
    """The watermarks to their end, then the snapshots and the updates too, all into `reader`."""

    poll_s = 0.02
    reader: FilterReader

    def __init__(
        self,
        brokers: str,
        snapshots_topic: str,
        watermarks_topic: str,
        updates_topic: str,
        filter_name: str,
        additions_max: int,
    ) -> None:
        self._updates_topic, self._filter, self._additions_max = updates_topic, filter_name, additions_max
        self._next: dict[int, int] = {}  # offset in the snapshots, by partition
        self._ends: dict[int, int] = {}  # found in the snapshots, while beats before them may be unread
        self._beats_in: dict[int, int] = {}  # the partition of the watermarks that has a partition's beats
        self._moved_to: str | None = None
        # Few and large answers of the broker, at most 10 ms late.
        fetches = {"fetch.min.bytes": 1_000_000, "fetch.wait.max.ms": 10}
        super().__init__(brokers, snapshots_topic, watermarks_topic, **fetches)

    def _begin(self, snapshots: list[TopicPartition], marks: list[TopicPartition]) -> None:
        numbers = [one.partition for one in snapshots]
        if not marks or len(self._partitions(self._updates_topic)) != len(numbers):
            raise LookupError(f"topic {self._updates_topic}: not {len(numbers)} partitions, or no watermarks")
        self.reader = FilterReader(
            self._filter, numbers, snapshots_topic=self._snapshots_topic, additions_max=self._additions_max
        )
        self._next = dict.fromkeys(numbers, 0)
        self._to_read |= {(self._updates_topic, number) for number in numbers}
        self._later = snapshots
        self._consumer.assign(marks)

    def _at_end(self, message: confluent_kafka.Message) -> None:
        partition = message.partition()
        if message.topic() == self._snapshots_topic:
            self._ends[partition] = message.offset()
        elif message.topic() == self._watermarks_topic:
            self._beats_end(partition)
            if self._later and not any(topic == self._watermarks_topic for topic, _ in self._to_read):
                self._consumer.incremental_assign(self._later + list(map(self._updates_of, self._later)))
                self._later = []

    def _beats_end(self, watermarks: int) -> None:
        """The ends of snapshots that were found before this end of the beats count now.

        Each holds also where more snapshots came since: the reader stands there at least."""
        for partition, beats_in in self._beats_in.items():
            if beats_in == watermarks and partition in self._ends:
                self.reader.snapshots_end(partition, self._ends.pop(partition))

    def _updates_of(self, snapshots: TopicPartition) -> TopicPartition:
        begin = self.reader.updates_from(snapshots.partition)
        # Where that has been deleted, auto.offset.reset leads to the beginning.
        offset = OFFSET_BEGINNING if begin is None else begin
        return TopicPartition(self._updates_topic, snapshots.partition, offset)

    def _keep(self, message: confluent_kafka.Message, key: bytes | None, value: bytes | None) -> None:
        partition, offset = message.partition(), message.offset()
        if message.topic() == self._watermarks_topic:
            self.reader.take_beat(key, value)
            self._beats_in[int(key)] = partition
            self._after_beat(int(key))
        elif message.topic() == self._updates_topic:
            self.reader.take_update(value)
        else:
            if offset < self._next[partition]:
                self._restart(partition)  # the topic was cut or created again
            self._next[partition] = offset + 1
            self.reader.take_snapshot(partition, key.decode(), value)

    def _after_beat(self, partition: int) -> None:
        if partition not in self._next:
            return  # it isn't followed
        if self.reader.must_restart(partition):
            log.warning("%s/%d: another log; starting over there", self._snapshots_topic, partition)
            if not self._later:  # else nothing of it has been read yet
                self._read_again(TopicPartition(self._snapshots_topic, partition, OFFSET_BEGINNING))
            self._restart(partition)
        moved_to = self.reader.moved_to(partition)
        if moved_to is not None and moved_to != self._moved_to:
            self._moved_to = moved_to
            log.warning("filter %s has moved to topic %s: read that one", self._filter, moved_to)

    def _restart(self, partition: int) -> None:
        self._next[partition] = 0
        self._ends.pop(partition, None)  # an end of the log before
        self.reader.snapshots_restart(partition)


class Seen:
    """What a recommender asks. Any number of threads may ask."""

    def __init__(
        self, tail: Tail, cache: SnapshotCache, watermarks: Watermarks, http: SeenHttp, stale_ms_max: int
    ) -> None:
        self._tail, self._cache, self._watermarks, self._http = tail, cache, watermarks, http
        self._stale_ms_max = stale_ms_max

    def unseen(self, user: str, items: Sequence[ItemId], also_seen: Sequence[ItemId] = ()) -> Answer:
        snapshot = None
        try:
            if self._tail.caught_up.is_set():
                snapshot = self._cache.get(user)
                if snapshot is None:
                    snapshot = self._http.snapshot(user)
                    self._cache.fill(user, snapshot)
                    return Answer(by_request(snapshot, items, also_seen), "http")
                if self._watermarks.stale_by_ms(snapshot) <= self._stale_ms_max:
                    return Answer(by_request(snapshot, items, also_seen), "cache")
            return self._http.unseen(user, items, also_seen)
        except AskError as error:
            log.warning("showing without knowing what %r has seen of late: %s", user, error)
            return Answer(by_request(snapshot or Snapshot.empty(), items, also_seen), "request")


class SeenByUpdates:
    """The same for a filter with updates."""

    def __init__(self, tail: UpdatesTail, http: SeenHttp, stale_ms_max: int) -> None:
        self._reader, self._http, self._stale_ms_max = tail.reader, http, stale_ms_max

    def unseen(self, user: str, items: Sequence[ItemId], also_seen: Sequence[ItemId] = ()) -> Answer:
        fresh_before = self._is_fresh(user)
        unseen = [str(item) for item in self._reader.unseen(user, items, also_seen)]
        near = dict(zip(unseen, self._reader.might_be_near_many(user, unseen).tolist()))
        unseen.sort(key=near.get)  # what is like something seen goes last, else in their order
        if fresh_before and self._is_fresh(user):
            return Answer(unseen, "cache")
        try:
            return self._http.unseen(user, items, also_seen)
        except AskError as error:
            log.warning("showing without knowing what %r has seen of late: %s", user, error)
            return Answer(unseen, "request")

    def _is_fresh(self, user: str) -> bool:
        as_of = self._reader.as_of()
        is_known = as_of is not None and not self._reader.is_refused(user)
        return is_known and time.time_ns() // 1_000_000 - as_of <= self._stale_ms_max


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--brokers", default="127.0.0.1:9092", help="default: %(default)s")
    parser.add_argument("--snapshots-topic", default="seen-filters", help="default: %(default)s")
    parser.add_argument("--watermarks-topic", default="seen-watermarks", help="default: %(default)s")
    parser.add_argument(
        "--stale-ms-max",
        type=int,
        default=10_000,
        help="what is older isn't taken from the cache (default: %(default)s)",
    )
    parser.add_argument("--updates", metavar="TOPIC", help="of a filter with updates, such as seen-updates")
    parser.add_argument(
        "--additions-max", type=int, default=16_000_000, help="of the updates (default: %(default)s)"
    )
    parser.add_argument("--users-max", type=int, default=100_000, help="in the cache (default: %(default)s)")
    parser.add_argument("--mib-max", type=int, default=512, help="of the cache (default: %(default)s)")
    http_arguments(parser)
    arguments = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    cache, watermarks = SnapshotCache(arguments.users_max, arguments.mib_max << 20), Watermarks()
    topics = arguments.brokers, arguments.snapshots_topic, arguments.watermarks_topic
    began = time.monotonic()
    try:
        if arguments.updates:
            tail = UpdatesTail(*topics, arguments.updates, arguments.filter, arguments.additions_max)
        else:
            tail = Tail(*topics, cache, watermarks)
    except (KafkaException, LookupError) as error:
        sys.exit(f"tail_snapshots.py: {error}")
    try:
        tail.caught_up.wait(60)
        http = SeenHttp(arguments.http, arguments.filter, arguments.timeout_ms / 1000)
        if arguments.updates:
            held = f"{tail.reader.additions} additions, {tail.reader.memory_bytes >> 20} MiB"
            since = tail.reader.complete_since()
            if since is not None:
                held += f", complete since {datetime_of(since).isoformat(timespec='seconds')}"
            seen = SeenByUpdates(tail, http, arguments.stale_ms_max)
        else:
            held = f"{len(cache)} users, {cache.bytes >> 20} MiB"
            seen = Seen(tail, cache, watermarks, http, arguments.stale_ms_max)
        log.warning("%s after %.1f s", held, time.monotonic() - began)
        answer_lines(sys.stdin, seen.unseen)
    finally:
        tail.close()


if __name__ == "__main__":
    main()
