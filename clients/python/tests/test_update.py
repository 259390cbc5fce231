"""One update: what it holds, and what is refused."""

import contextlib
import os
import random
import struct

import numpy as np
import pytest
import xxhash

import encoders
from encoders import section, update, user_hash
from seen_client import MalformedUpdateError, Section, UnsupportedUpdateError, Update, UpdateError

SEED = int(os.environ.get("SEEN_SEED", 20260101))
U, V = user_hash("u"), user_hash("v")
TWO = (
    section([(U, [1, 2]), (V, [3]), (U, [2**32 - 1])], mask=3),
    section([(V, [7])], mask=2, kind=1, until_s=1_800_000_000),
)
GOOD = update(
    *TWO, partition=3, generation=5, begin=7, end=9, part=200, as_of_ms=99, filters=("default", "曝光")
)


def listed(one):
    return one._replace(
        users=one.users.tolist(), counts=one.counts.tolist(), fingerprints=one.fingerprints.tolist()
    )


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_it_has_the_fields_of_the_record(kind):
    read = Update(kind(GOOD))
    assert (read.partition, read.generation, read.from_offset, read.to_offset) == (3, 5, 7, 9)
    assert (read.part, read.as_of_ms, read.filters) == (200, 99, ("default", "曝光"))
    assert [listed(one) for one in read.sections] == [
        Section(3, 0, 0, [U, V, U], [2, 1, 1], [1, 2, 3, 2**32 - 1]),
        Section(2, 1, 1_800_000_000, [V], [1], [7]),
    ]
    assert "partition 3, generation 5" in repr(read)


def test_sections_are_views_of_the_record():
    data = np.frombuffer(GOOD, np.uint8)
    for one in Update(GOOD).sections:
        for array in (one.users, one.counts, one.fingerprints):
            assert np.shares_memory(array, data) and not array.flags.writeable


def test_the_bounds_of_the_fields_are_allowed():
    names = tuple(chr(ord("a") + i) for i in range(15)) + ("x" * 255,)
    read = Update(
        update(filters=names, header_bytes=8192, partition=2**31 - 1, generation=2**63 - 1, as_of_ms=-1)
    )
    assert read.filters == names and read.sections == () and read.as_of_ms == -1
    most = Update(update(begin=2**63 - 1, end=2**63 - 1, as_of_ms=2**63 - 1))
    assert most.from_offset == most.to_offset == most.as_of_ms == 2**63 - 1
    assert Update(update(section([(U, [1])], mask=2**15), filters=names)).sections[0].mask == 2**15
    assert Update(update(section([(U, [1])], reserved=9))).sections[0].kind == 0
    assert Update(update(section([(2**64 - 1, list(range(65_535)))]))).sections[0].counts.tolist() == [65_535]
    assert Update(update(names=b"\1\xff", filter_count=1)).filters == ("\udcff",)


def sealed(data):
    data = bytes(data)
    return (
        data[:8] + struct.pack("<I", xxhash.xxh64_intdigest(data[:8] + data[12:]) & encoders.M32) + data[12:]
    )


STEPS = {
    1: [
        (b"", "not an update"),
        (None, "null"),
        (b"SEE", "not an update"),
        (b"SEEN" + GOOD[4:], "not an update"),
    ]
    + [(GOOD[:55], "cut off: 55 bytes")],
    2: [(update(version=version), f"version {version}") for version in (0, 2, 255)],
    3: [
        (update(header_bytes=55), "header_bytes is 55"),
        (update(header_bytes=0), "header_bytes is 0"),
        (update(header_bytes=8193), "header_bytes is 8193"),
        (sealed(update()[:6] + struct.pack("<H", 57) + update()[8:56]), "header_bytes is 57"),
    ],
    4: [
        (GOOD[:8] + bytes((GOOD[8] ^ 1,)) + GOOD[9:], "checksum"),
        (GOOD[:-1] + bytes((GOOD[-1] ^ 1,)), "checksum"),
        (GOOD[:12] + bytes((GOOD[12] ^ 1,)) + GOOD[13:], "checksum"),
        (GOOD[:5] + b"\1" + GOOD[6:], "checksum"),
        (GOOD[:-1], "checksum"),
    ],
    5: [
        (update(partition=-1), "partition is -1"),
        (update(generation=0), "generation is 0"),
        (update(begin=-1), "from is -1"),
        (update(begin=5, end=4), "to is 4"),
        (update(begin=2**63 - 1, end=-(2**63)), "to is -9223372036854775808"),
        (update(as_of_ms=-2), "as_of_ms is -2"),
        (update(filter_count=0), "filter_count is 0"),
        (update(filter_count=17), "filter_count is 17"),
    ],
    6: [
        (update(names=b"\0", filter_count=1), "name 1 of 1"),
        (update(names=b"\1a", filter_count=2), "name 2 of 2"),
        (update(names=b"\7abcdef", filter_count=1), "name 1 of 1"),
        (update(names=b"\6abcdef", filter_count=2), "name 2 of 2"),
        (update(filters=("a", "b", "a")), "'a' comes twice"),
        (update(section([(U, [1])]), names=b"\xff" + b"a" * 250, filter_count=1), "name 1 of 1"),
    ],
    7: [
        (update(section([(U, [1])], mask=0)), "mask is 0x0"),
        (update(section([(U, [1])], mask=2)), "mask is 0x2"),
        (update(section([(U, [1])], mask=3)), "mask is 0x3"),
        (update(section([(U, [1])], kind=2)), "kind 2"),
        (update(section([], users=0, items=0)), "users is 0"),
        (update(section([(U, [])])), "items 0"),
        (update(section([(U, [1, 2]), (V, [])])), "count is 0"),
        (update(section([(U, [1, 2])], items=1)), "add up to 2"),
        (update(section([(U, [1])], items=2)), "cut off"),
        (update(section([(U, [1])], users=2)), "cut off"),
        (update(section([(U, [1])], users=2**32 - 1, items=2**32 - 1)), "cut off"),
        (update(section([(U, [1])], items=2**30 + 1)), "cut off"),
        (update(section([(U, [1, 2])])[:-4]), "cut off"),
        (
            update(section([(U, [1, 2])]).replace(b"\2\0\1\0\0\0", b"\3\0\1\0\0\0")),
            "add up to 3, and items is 2",
        ),
        (update(section([(U, [1])]), b"\0"), "cut off: 1 bytes"),
        (update(section([(U, [1])]), bytes(16)), "mask"),
        (update(b"\0"), "cut off: 1 bytes"),
    ],
}


@pytest.mark.parametrize(
    "data, words", [pytest.param(*row, id=f"{step}-{row[1]}") for step, rows in STEPS.items() for row in rows]
)
def test_what_breaks_a_rule_is_refused_and_named(data, words):
    with pytest.raises(UpdateError, match=words) as caught:
        Update(data)
    is_newer = words.startswith(("version", "kind"))
    assert type(caught.value) is (UnsupportedUpdateError if is_newer else MalformedUpdateError)
    assert not is_newer or "update seen-client" in str(caught.value)


def test_the_first_miss_is_named():
    """Each record breaks all rules from a step on."""
    wrong = dict(names=b"\0", filter_count=17, partition=-1)
    body = section([(U, [1])], mask=0)
    assert_names(update(body, **wrong, magic=b"SEEX", version=2, header_bytes=9), "not an update")
    assert_names(update(body, **wrong, version=2, header_bytes=9), "version")
    unsealed = bytearray(update(body, **wrong, header_bytes=9))
    unsealed[8] ^= 1
    assert_names(unsealed, "header_bytes")
    unsealed = bytearray(update(body, **wrong))
    unsealed[8] ^= 1
    assert_names(unsealed, "checksum")
    assert_names(update(body, **wrong), "partition")
    assert_names(update(body, names=b"\0"), "name 1 of 1")


def assert_names(data, words):
    with pytest.raises(UpdateError, match=words):
        Update(data)


@pytest.mark.parametrize("what", [7, "SEEU"])
def test_what_is_no_bytes_is_a_type_error(what):
    with pytest.raises(TypeError):
        Update(what)


def test_mutated_records_are_read_or_refused():
    chance = random.Random(f"{SEED} updates")
    read = 0
    for _ in range(3_000):
        data = bytearray(GOOD)
        for _ in range(chance.choice((1, 1, 2, 4))):
            at = chance.randrange(len(data)) if data else 0
            kind = chance.randrange(5)
            if kind == 0 and data:
                data[at] = chance.randrange(256)
            elif kind == 1 and data:
                data[at] ^= 1 << chance.randrange(8)
            elif kind == 2 and len(data) > 60:
                struct.pack_into(
                    "<I", data, chance.randrange(12, len(data) - 4), chance.choice((0, 1, 2**31, 2**32 - 1))
                )
            elif kind == 3:
                del data[at:]
            else:
                data[at:at] = chance.randbytes(chance.randrange(1, 9))
        with contextlib.suppress(UpdateError):
            for one in Update(sealed(data) if chance.random() < 0.9 else bytes(data)).sections:
                assert one.counts.sum(dtype=np.int64) == len(one.fingerprints) and one.counts.min() > 0
            read += 1
    assert read > 300, f"SEEN_SEED={SEED}: some still pass all checks"
