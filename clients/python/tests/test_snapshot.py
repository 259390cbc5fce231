"""The envelope, ids, and what a Snapshot offers whatever its kind."""

import datetime
import math
import struct

import numpy as np
import pytest

from encoders import seal, snapshot_of
from seen_client import MalformedSnapshotError, Snapshot, SnapshotError, UnsupportedSnapshotError, fingerprint

BLOCK = bytes(32)
GOOD = snapshot_of("split_block_bloom", ["n1", 7, -7, "曝光"])


@pytest.mark.parametrize(
    "envelope, error, words",
    [
        ({"version": 2, "header_bytes": 8, "form": 99}, UnsupportedSnapshotError, "version 2"),
        ({"header_bytes": 57, "form": 99}, MalformedSnapshotError, "header_bytes is 57"),
        ({"header_bytes": 60}, MalformedSnapshotError, "header_bytes is 60"),
        ({"header_bytes": 0}, MalformedSnapshotError, "header_bytes is 0"),
        ({"header_bytes": 4104}, MalformedSnapshotError, "header_bytes is 4104"),
        ({"payload_bytes": 0xFFFFFFFF, "form": 99}, MalformedSnapshotError, "make 4294967351"),
        ({"form": 0, "rate": math.nan}, UnsupportedSnapshotError, "format 0"),
        ({"form": 12, "hash_kind": 2}, UnsupportedSnapshotError, "format 12"),
        ({"hash_kind": 2, "flags": 1}, UnsupportedSnapshotError, "hash 2"),
        ({"flags": 0x80, "rate": 0.0}, UnsupportedSnapshotError, "flags 0x80"),
        ({"rate": 0.0, "payload": b""}, MalformedSnapshotError, "false_positive_rate is 0.0"),
        ({"rate": 0.51}, MalformedSnapshotError, "false_positive_rate"),
        ({"rate": math.nan}, MalformedSnapshotError, "false_positive_rate"),
        ({"rate": math.inf}, MalformedSnapshotError, "false_positive_rate"),
        ({"payload": b""}, MalformedSnapshotError, "split_block_bloom"),
    ],
    ids=str,
)
def test_what_is_wrong_first_is_named(envelope, error, words):
    with pytest.raises(error, match=words) as caught:
        Snapshot(seal(**{"payload": BLOCK, "form": 1, **envelope}))
    assert isinstance(caught.value, SnapshotError) and isinstance(caught.value, ValueError)


def test_bytes_cut_anywhere_or_damaged_anywhere_are_refused():
    for length in range(len(GOOD)):
        with pytest.raises(MalformedSnapshotError):
            Snapshot(GOOD[:length])
    for at in range(len(GOOD)):
        with pytest.raises(SnapshotError):
            Snapshot(GOOD[:at] + bytes([GOOD[at] ^ 0x10]) + GOOD[at + 1 :])


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_buffer_can_be_read_and_changing_it_later_changes_nothing(kind):
    raw = bytearray(GOOD)
    snapshot = Snapshot(kind(raw))
    raw[60:] = bytes(len(raw) - 60)
    assert snapshot.might_contain("n1") and snapshot.nbytes == len(raw)


@pytest.mark.parametrize("what", [None, 7, "SEEN"])
def test_what_is_no_bytes_is_a_type_error(what):
    with pytest.raises(TypeError):
        Snapshot(what)


def test_integers_are_their_decimal_strings():
    snapshot = Snapshot(GOOD)
    assert snapshot.might_contain(7) and snapshot.might_contain("7") and snapshot.might_contain(np.int64(-7))
    assert not snapshot.might_contain("07")
    assert fingerprint(42) == fingerprint("42") == 1843852752
    assert fingerprint(9007199254740993) == fingerprint("9007199254740993") != fingerprint("9007199254740992")
    assert snapshot.unseen(np.array([7, 8])) == [8]


@pytest.mark.parametrize("item", [True, None, 1.0, b"n1", np.float64(1), ["n1"], np.bool_(True)])
def test_what_is_no_id_is_a_type_error(item):
    for ask in (
        Snapshot(GOOD).might_contain,
        lambda i: Snapshot(GOOD).unseen([i]),
        lambda i: Snapshot.empty().with_also_seen([i]),
    ):
        with pytest.raises(TypeError, match="item id"):
            ask(item)


def test_one_string_is_no_list():
    for ask in (Snapshot(GOOD).unseen, Snapshot(GOOD).with_also_seen, Snapshot(GOOD).might_contain_many):
        with pytest.raises(TypeError, match="single 'n1'"):
            ask("n1")


def test_unseen_keeps_the_order_and_names_each_once_as_it_was_given():
    snapshot = Snapshot(GOOD)
    assert snapshot.unseen(["b", "n1", "a", "b", "c", 7, "7", "a"]) == ["b", "a", "c"]
    assert snapshot.unseen([8, "8", "a", 8]) == [8, "a"]
    assert snapshot.unseen(["8", 8]) == ["8"]
    assert snapshot.unseen(item for item in ["a", "n1"]) == ["a"]
    assert snapshot.unseen([]) == []
    assert snapshot.might_contain_many(["n1", "a", "n1"]).tolist() == [True, False, True]
    assert snapshot.might_contain_many([]).tolist() == []


def test_also_seen_counts_besides():
    snapshot = Snapshot(GOOD)
    more = snapshot.with_also_seen(["a", 9]).with_also_seen(["b"])
    assert more.unseen(["a", "b", "9", 9, "c", "n1"]) == ["c"]
    assert [more.might_contain(item) for item in ("a", 9, "9", "c")] == [True, True, True, False]
    assert more.might_contain_many(["a", 9, "c"]).tolist() == [True, True, False]
    assert snapshot.unseen(["a"]) == ["a"], "the one it came from stays as it is"
    assert more.item_count == 4


def test_how_many_to_recall_follows_the_formula():
    snapshot = Snapshot(GOOD)
    assert snapshot.recall_size(0) == 0
    assert snapshot.recall_size(1) == 4 + math.ceil((1 + 3 * math.sqrt(0.01)) / 0.99) == 6
    assert snapshot.recall_size(100) == 4 + 105
    assert snapshot.with_also_seen(["n1", "a", 7, "b", "a"]).recall_size(100) == 6 + 105, (
        "only those it doesn't hold"
    )
    assert snapshot.recall_size(-1) == 0 and snapshot.with_also_seen(["a"]).recall_size(-5) == 0
    with pytest.raises(TypeError):
        snapshot.recall_size(1.5)


def test_the_empty_snapshot_lets_everything_through():
    empty = Snapshot.empty(partition=2, as_of_ms=1_000)
    assert empty.unseen(["a", "b", "a"]) == ["a", "b"]
    assert not empty.might_contain("a") and not empty.might_contain_fingerprint(0)
    assert not empty.might_contain_many(["a"]).any() and empty.details("a") == []
    assert empty.with_also_seen(["a"]).unseen(["a", "b"]) == ["b"]
    assert empty.recall_size(100) == 100 and empty.with_also_seen(["a"]).recall_size(100) == 101
    assert (empty.item_count, empty.partition, empty.as_of_ms, empty.nbytes) == (0, 2, 1_000, 0)


def test_times_are_in_utc_and_those_beyond_the_calendar_are_the_nearest():
    at = Snapshot(snapshot_of("bloom", ["a"], as_of_ms=1763700000123, horizon_day=20383))
    assert at.as_of == datetime.datetime(2025, 11, 21, 4, 40, 0, 123000, tzinfo=datetime.timezone.utc)
    assert at.horizon == datetime.date(2025, 10, 22)
    for ms, day, year in ((2**63 - 1, 2**31 - 1, 9999), (-(2**63), -(2**31), 1)):
        far = Snapshot(snapshot_of("bloom", ["a"], as_of_ms=ms, horizon_day=day))
        assert (far.as_of.year, far.horizon.year, far.as_of_ms, far.horizon_day) == (year, year, ms, day)
        assert "bloom" in repr(far)


def test_fingerprints_out_of_range_are_refused():
    snapshot = Snapshot(GOOD)
    assert snapshot.might_contain_fingerprint(fingerprint("n1"))
    assert snapshot.might_contain_fingerprint(np.uint32(fingerprint("n1")))
    assert snapshot.might_contain_fingerprints([]).tolist() == []
    for wrong in (-1, 2**32):
        with pytest.raises(ValueError, match="fingerprint"):
            snapshot.might_contain_fingerprint(wrong)
        with pytest.raises(ValueError, match="fingerprint"):
            snapshot.might_contain_fingerprints([1, wrong])
    with pytest.raises(TypeError):
        snapshot.might_contain_fingerprints([1.5])
    with pytest.raises(TypeError):
        snapshot.might_contain_fingerprints([[1]])


def test_creation_times_are_one_for_each_item():
    with pytest.raises(ValueError, match="created_at_ms has 1 for 2 items"):
        Snapshot(GOOD).unseen(["a", "b"], created_at_ms=[1])


def test_item_count_sizes_nothing():
    assert Snapshot(seal(BLOCK, 1, item_count=0xFFFFFFFF)).unseen(["a"]) == ["a"]
    assert struct.calcsize("<4sBBBBIIqiiqdII") == 56
