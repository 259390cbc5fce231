"""Snapshots that say what is similar."""

import struct

import pytest
import xxhash

import encoders
from seen_client import FilterKind, MalformedSnapshotError, Snapshot, UnsupportedSnapshotError

FIRST = encoders.snapshot_of("bloom", ["seen"])


def print_of(item, domain):
    """By the specification's words."""
    return xxhash.xxh64_intdigest(struct.pack("<IB", encoders.print_of(item), domain)) >> 32


def sample():
    prints = sorted([print_of("near", 1), print_of(7, 1), print_of("group", 2), print_of(8, 2)])
    return encoders.with_similar(FIRST, encoders.fingerprints(prints), 11)


def test_it_is_asked_apart_from_what_was_seen():
    snapshot = Snapshot(sample())
    assert (
        snapshot.has_similar
        and snapshot.similar_kind is FilterKind.FINGERPRINTS
        and snapshot.similar_count == 3
    )
    assert [snapshot.might_contain(item) for item in ("seen", "near", "group")] == [True, False, False]
    assert [snapshot.might_be_near(item) for item in ("seen", "near", "group", 7, "7", 8)] == [
        False,
        True,
        False,
        True,
        True,
        False,
    ]
    assert [snapshot.might_hold_group(item) for item in ("seen", "near", "group", 7, 8)] == [
        False,
        False,
        True,
        False,
        True,
    ]
    assert snapshot.might_be_near_many(["near", 8, 7]).tolist() == [True, False, True]
    assert snapshot.might_hold_group_many(iter(["near", 8])).tolist() == [False, True]
    assert snapshot.might_be_near_many([]).tolist() == []
    assert snapshot.unseen(["seen", "near"]) == ["near"]
    assert snapshot.nbytes == len(sample())


def test_what_counts_as_also_seen_is_near_nothing_and_keeps_what_is():
    snapshot = Snapshot(sample()).with_also_seen(["x"])
    assert snapshot.might_be_near("near") and not snapshot.might_be_near("x")


@pytest.mark.parametrize("snapshot", [Snapshot.empty(), Snapshot(FIRST)], ids=["empty", "without"])
def test_nothing_is_near_where_the_snapshot_does_not_say(snapshot):
    assert not snapshot.has_similar and snapshot.similar_kind is None and snapshot.similar_count == 0
    assert not snapshot.might_be_near("near") and not snapshot.might_hold_group("group")
    assert snapshot.might_be_near_many(["near", "b"]).tolist() == [False, False]
    assert snapshot.with_also_seen(["near"]).might_be_near("near") is False


def test_one_string_is_no_list():
    with pytest.raises(TypeError):
        Snapshot(sample()).might_be_near_many("near")


@pytest.mark.parametrize(
    "at, value, error, words",
    [
        (7, b"\3", UnsupportedSnapshotError, "flags 0x03"),
        (56, b"\xff\xff\xff\xff", MalformedSnapshotError, "similar_bytes is 4294967295"),
        (56, struct.pack("<I", len(sample()) - 71), MalformedSnapshotError, "above payload_bytes"),
        (56, struct.pack("<I", len(sample()) - 72), MalformedSnapshotError, "kind bloom: 0 bytes"),
        (
            56,
            struct.pack("<I", 4),
            MalformedSnapshotError,
            "what is similar: snapshot: payload of kind fingerprints",
        ),
        (60, b"\0", UnsupportedSnapshotError, "similar_format 0"),
        (60, b"\7", UnsupportedSnapshotError, "similar_format 7"),
        (60, b"\x0a", UnsupportedSnapshotError, "similar_format 10"),
        (60, b"\x0c", UnsupportedSnapshotError, "similar_format 12"),
    ],
)
def test_what_is_wrong_is_named(at, value, error, words):
    with pytest.raises(error, match=words):
        Snapshot(patched(sample(), at, value))


def test_the_flag_needs_its_fields():
    with pytest.raises(MalformedSnapshotError, match="header_bytes is 56"):
        Snapshot(patched(FIRST, 7, b"\1"))


def test_what_is_reserved_is_not_looked_at():
    assert Snapshot(patched(patched(sample(), 61, b"abc"), 68, b"defg")).might_be_near("near")


def patched(data, at, value):
    data = bytearray(data)
    data[at : at + len(value)] = value
    data[52:56] = struct.pack("<I", xxhash.xxh64_intdigest(bytes(data[:52] + data[56:])) & encoders.M32)
    return bytes(data)
