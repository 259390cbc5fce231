"""Stale, or just quiet?"""

import datetime
import json

import pytest

from encoders import snapshot_of
from seen_client import Snapshot, Watermark, WatermarkError, Watermarks

NOW = 1763700000000


def record(**changes):
    return json.dumps(
        {
            "version": 1,
            "partition": 3,
            "partition_time_ms": NOW - 5_000,
            "next_offset": 9,
            "lag_messages": 0,
            "unpublished_users": 0,
            "heartbeat_ms": NOW - 400,
            "new": [1],
            **changes,
        }
    ).encode()


@pytest.mark.parametrize(
    "lag, partition_time_ms, as_of_ms",
    [
        (0, NOW - 5_000, NOW - 400),
        (0, NOW + 5_000, NOW - 400),
        (7, NOW - 5_000, NOW - 5_000),
        (7, NOW + 5_000, NOW - 400),
    ],
)
def test_with_nothing_to_read_the_heartbeat_counts_else_the_stream(lag, partition_time_ms, as_of_ms):
    watermark = Watermark.parse(record(lag_messages=lag, partition_time_ms=partition_time_ms))
    assert watermark.as_of_ms == as_of_ms and watermark.stale_by_ms(NOW) == NOW - as_of_ms
    assert watermark.stale_by_ms(0) == 0 and watermark.as_of.tzinfo is datetime.timezone.utc


def test_a_snapshot_is_as_fresh_as_the_later_of_itself_and_its_partitions_watermark():
    snapshot = Snapshot(snapshot_of("bloom", ["a"], partition=3, as_of_ms=NOW - 60_000))
    watermarks = Watermarks()
    now = datetime.datetime.fromtimestamp(NOW / 1000, datetime.timezone.utc)
    assert watermarks.stale_by(snapshot, now) == datetime.timedelta(seconds=60)
    watermarks.update(b"4", record(partition=4))
    assert watermarks.as_of_ms(snapshot) == NOW - 60_000
    watermarks.update(b"3", record())
    assert watermarks.as_of(snapshot) == now - datetime.timedelta(milliseconds=400)
    assert watermarks.stale_by(snapshot, now) == datetime.timedelta(milliseconds=400)
    assert watermarks.stale_by(snapshot, now - datetime.timedelta(1)) == datetime.timedelta(0)
    assert watermarks.stale_by(snapshot).days > 0 and watermarks.partitions() == [3, 4]
    watermarks.update(b"3", record(heartbeat_ms=NOW - 90_000))
    assert watermarks.as_of_ms(snapshot) == NOW - 60_000
    watermarks.update(b"3", None)
    assert watermarks.get(3) is None and watermarks.get(4) is not None
    with pytest.raises(ValueError, match="time zone"):
        watermarks.stale_by(snapshot, datetime.datetime(2025, 11, 21))


def test_times_far_out_are_no_error():
    far = Snapshot(snapshot_of("bloom", ["a"], as_of_ms=-(2**63)))
    assert Watermarks().stale_by(far) == datetime.timedelta.max or Watermarks().stale_by(far).days > 10**8
    assert Watermark.parse(record(heartbeat_ms=2**63 - 1, lag_messages=0)).as_of.year == 9999


@pytest.mark.parametrize(
    "value, words",
    [
        (b"", "no JSON"),
        (b"[1]", "no JSON object"),
        (b"\xff", "no JSON"),
        (b"[" * 60_000, "JSON"),
        (b"7" * 60_000, "JSON"),
        (b" " * 70_000, "at most"),
        (record(version=2), "version 2"),
        (record(version=None), "version None"),
        (record(version=True), "version True"),
        (record(heartbeat_ms="1"), "heartbeat_ms: not an integer"),
        (record(lag_messages=True), "lag_messages"),
        (record(next_offset=1.5), "next_offset"),
        (record(partition_time_ms=2**70), "beyond 64 bits"),
        (b'{"version":1,"partition":3}', "partition_time_ms: missing"),
        (record(partition=4), "the key is 3"),
        (record(partition=None), "partition: not an integer"),
    ],
)
def test_a_record_that_is_no_watermark_is_refused_and_the_one_before_it_stays(value, words):
    watermarks = Watermarks()
    watermarks.update(b"3", record())
    with pytest.raises(WatermarkError, match=words):
        watermarks.update(b"3", value)
    assert watermarks.get(3) == Watermark.parse(record())


@pytest.mark.parametrize("key", [None, b"", b"x", b"-1", b"3 ", b"9" * 5_000])
def test_a_key_that_is_no_partition_is_refused(key):
    with pytest.raises(WatermarkError, match="key"):
        Watermarks().update(key, record())
