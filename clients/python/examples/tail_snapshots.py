#!/usr/bin/env python3
"""Answers from a local copy of the snapshot topic, as long as it is fresh enough; else over HTTP; else by the
request.

    tail_snapshots.py --brokers 127.0.0.1:9092 --http http://127.0.0.1:8080
    {"user":"u1","items":["n1","n2"],"also_seen":["n9"]}
    {"unseen": ["n2"], "from": "cache"}

One question a line in, one answer a line out. `from` is `cache`; or `http`, where the user isn't in the cache
or it is too stale; or `request`, where nobody answers: then the question's own `also_seen` counts, and a
stale snapshot where there is one, since what it has is right and only the latest is missing."""

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
from seen_client import ItemId, Snapshot, SnapshotError, WatermarkError, Watermarks
from snapshot_cache import SnapshotCache

log = logging.getLogger("seen")
RECORDS_A_POLL = 1_000


class Tail:
    """Reads both topics from their beginning, on a thread of its own, into a cache and the watermarks.

    `caught_up` is set once what was there at the start has been read. Partitions that are added later aren't
    seen."""

    def __init__(
        self,
        brokers: str,
        snapshots_topic: str,
        watermarks_topic: str,
        cache: SnapshotCache,
        watermarks: Watermarks,
    ) -> None:
        """KafkaException if the brokers don't answer within 10 s; LookupError if there is no such topic."""
        self._cache, self._watermarks, self._watermarks_topic = cache, watermarks, watermarks_topic
        self.caught_up = threading.Event()
        self._stop = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": brokers,
                "group.id": "unused: it neither joins nor commits",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
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
        self._consumer.assign(snapshots + marks)
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
            for message in self._consumer.consume(RECORDS_A_POLL, timeout=0.2):
                error = message.error()
                if error is None:
                    self._take(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    self._to_read.discard((message.topic(), message.partition()))
                else:
                    log.warning("Kafka: %s", error)  # it goes on trying; meanwhile everything grows stale
            if not self._to_read:
                self.caught_up.set()

    def _take(self, message: confluent_kafka.Message) -> None:
        key, value = message.key(), message.value()
        try:
            if message.topic() == self._watermarks_topic:
                self._watermarks.update(key, value)
            elif value is None:
                self._cache.forget(key.decode())
            else:
                self._cache.put(key.decode(), Snapshot(value))
        except (SnapshotError, WatermarkError, UnicodeDecodeError, AttributeError) as error:
            # The one before it stays.
            log.warning("%s/%d@%d: %s", message.topic(), message.partition(), message.offset(), error)


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
    parser.add_argument("--users-max", type=int, default=100_000, help="in the cache (default: %(default)s)")
    parser.add_argument("--mib-max", type=int, default=512, help="of the cache (default: %(default)s)")
    http_arguments(parser)
    arguments = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    cache, watermarks = SnapshotCache(arguments.users_max, arguments.mib_max << 20), Watermarks()
    began = time.monotonic()
    try:
        tail = Tail(
            arguments.brokers, arguments.snapshots_topic, arguments.watermarks_topic, cache, watermarks
        )
    except (KafkaException, LookupError) as error:
        sys.exit(f"tail_snapshots.py: {error}")
    try:
        tail.caught_up.wait(60)
        log.warning("%d users, %d MiB after %.1f s", len(cache), cache.bytes >> 20, time.monotonic() - began)
        http = SeenHttp(arguments.http, arguments.filter, arguments.timeout_ms / 1000)
        seen = Seen(tail, cache, watermarks, http, arguments.stale_ms_max)
        answer_lines(sys.stdin, seen.unseen)
    finally:
        tail.close()


if __name__ == "__main__":
    main()
