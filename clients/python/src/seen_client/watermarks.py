"""Stale, or just quiet? How far the stream has come, by the topic of watermarks."""

from __future__ import annotations

import datetime
import json
import time
from typing import NamedTuple

from .clock import datetime_of, duration_of, ms_of
from .errors import WatermarkError
from .snapshot import Snapshot

VERSION = 1
RECORD_BYTES_MAX = 65_536
PARTITION_MAX = (1 << 31) - 1


class Watermark(NamedTuple):
    """How far one input partition had been read when the daemon that has it wrote this."""

    partition: int
    partition_time_ms: int
    next_offset: int
    lag_messages: int
    unpublished_users: int
    heartbeat_ms: int

    @classmethod
    def parse(cls, value: bytes | bytearray | memoryview) -> Watermark:
        """The value of a record. WatermarkError if it is to be refused."""
        members = members_of(value)
        watermark = cls(*(integer_of(members, name) for name in cls._fields))
        if not 0 <= watermark.partition <= PARTITION_MAX:
            raise WatermarkError(f"watermark: partition is {watermark.partition}; it is 0 to {PARTITION_MAX}")
        return watermark

    @property
    def as_of_ms(self) -> int:
        """Up to when all has been read: by the daemon's clock if nothing is left to read, else by the
        stream's."""
        return self.heartbeat_ms if self.lag_messages == 0 else min(self.partition_time_ms, self.heartbeat_ms)

    @property
    def as_of(self) -> datetime.datetime:
        return datetime_of(self.as_of_ms)

    def stale_by_ms(self, now_ms: int) -> int:
        return max(0, now_ms - self.as_of_ms)


class Watermarks:
    """The last watermark of each partition. One thread may feed it while others ask."""

    def __init__(self) -> None:
        self._last: dict[int, Watermark] = {}

    def update(self, key: bytes | None, value: bytes | None) -> None:
        """Takes the next record of the topic; a null value forgets the partition.

        WatermarkError if it is to be refused; the one before it then stays.
        """
        partition = partition_of_key(key)
        if value is None:
            self._last.pop(partition, None)
            return
        watermark = Watermark.parse(value)
        if watermark.partition != partition:
            raise WatermarkError(f"watermark: partition is {watermark.partition}, but the key is {partition}")
        self._last[partition] = watermark

    def get(self, partition: int) -> Watermark | None:
        return self._last.get(partition)

    def partitions(self) -> list[int]:
        """Those that have a watermark."""
        return sorted(self._last)

    def as_of_ms(self, snapshot: Snapshot) -> int:
        """How fresh a snapshot is: the later of its own time and that of the last watermark of its
        partition."""
        watermark = self._last.get(snapshot.partition)
        return snapshot.as_of_ms if watermark is None else max(snapshot.as_of_ms, watermark.as_of_ms)

    def as_of(self, snapshot: Snapshot) -> datetime.datetime:
        return datetime_of(self.as_of_ms(snapshot))

    def stale_by_ms(self, snapshot: Snapshot, now_ms: int | None = None) -> int:
        """`now_ms`: by default this machine's clock. Never negative, however far the clocks are apart."""
        return max(0, (time.time_ns() // 1_000_000 if now_ms is None else now_ms) - self.as_of_ms(snapshot))

    def stale_by(self, snapshot: Snapshot, now: datetime.datetime | None = None) -> datetime.timedelta:
        return duration_of(self.stale_by_ms(snapshot, None if now is None else ms_of(now)))


def partition_of_key(key: bytes | None) -> int:
    """Of a record's key: the number in decimal, as it is written and in no other way."""
    if (
        key is None
        or not (key.isdigit() and len(key) <= 10)
        or int(key) > PARTITION_MAX
        or key != b"%d" % int(key)
    ):
        raise WatermarkError(f"watermark: key {key!r:.40}; it is a partition's number")
    return int(key)


def members_of(value: bytes | bytearray | memoryview) -> dict[str, object]:
    """The JSON object of a record of this version."""
    if len(value) > RECORD_BYTES_MAX:
        raise WatermarkError(f"watermark: {len(value)} bytes; at most {RECORD_BYTES_MAX}")
    try:
        members = json.loads(str(bytes(value), "utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise WatermarkError(f"watermark: no JSON: {error}") from None
    if not isinstance(members, dict):
        raise WatermarkError("watermark: no JSON object")
    version = members.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version != VERSION:
        raise WatermarkError(
            f"watermark: version {version!r:.40}; this reader knows {VERSION}: update seen-client"
        )
    return members


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def integer_of(members: dict[str, object], name: str) -> int:
    value = members.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise WatermarkError(f"watermark: {name}: {'missing' if name not in members else 'not an integer'}")
    if not -(1 << 63) <= value < 1 << 63:
        raise WatermarkError(f"watermark: {name}: beyond 64 bits")
    return value
