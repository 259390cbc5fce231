"""All kinds, of snapshots written by tests/encoders.py."""

import datetime
import struct

import numpy as np
import pytest

import encoders
from encoders import DAY, NUMBER, seal, snapshot_of
from seen_client import FilterKind, MalformedSnapshotError, Snapshot

ITEMS = [f"n{i}" for i in range(3_000)]
FRESH = [f"fresh-{i}" for i in range(20_000)]
every_kind = pytest.mark.parametrize("kind", NUMBER)


def test_the_kinds_have_the_configurations_names():
    assert {kind.name.lower(): kind.value for kind in FilterKind} == NUMBER


@every_kind
@pytest.mark.parametrize("size", [0, 1, 2, 10, 100, 3_000])
def test_what_was_seen_is_said_and_one_look_up_agrees_with_many(kind, size):
    snapshot = Snapshot(snapshot_of(kind, ITEMS[:size]))
    assert snapshot.kind.name.lower() == kind and snapshot.item_count == size
    assert snapshot.unseen(ITEMS[:size]) == []
    assert all(map(snapshot.might_contain, ITEMS[:size]))
    answers = snapshot.might_contain_many(FRESH)
    assert np.count_nonzero(answers) <= 0.03 * len(FRESH), "errs about as often as it was made for"
    assert answers[:2_000].tolist() == [snapshot.might_contain(item) for item in FRESH[:2_000]]
    if size == 0:
        assert not answers.any()


@every_kind
def test_it_reads_behind_a_longer_header(kind):
    items = ITEMS[:100]
    plain = Snapshot(snapshot_of(kind, items))
    longer = Snapshot(snapshot_of(kind, items, header_bytes=4096))
    assert longer.unseen(items) == []
    assert longer.unseen(FRESH) == plain.unseen(FRESH)


@every_kind
def test_a_payload_cut_or_lengthened_is_refused_or_answers(kind):
    payload = getattr(encoders, kind)(list(map(encoders.print_of, ITEMS[:100])))
    exact = kind not in ("split_block_bloom", "bloom", "counting_bloom")
    for other in (payload[:-1], payload + b"\0", b""):
        if exact or other == b"" or kind == "split_block_bloom":
            with pytest.raises(MalformedSnapshotError, match=kind):
                Snapshot(seal(other, NUMBER[kind]))
        else:
            assert len(Snapshot(seal(other, NUMBER[kind])).unseen(FRESH[:10])) <= 10


# --- kind 5


def test_a_long_run_across_blocks_is_found_whole():
    keys = sorted({(5, remainder) for remainder in range(0, 4_000, 2)} | {(6, 7), (70, 9)})
    payload = encoders.quotient_of(keys, 12, 128)
    snapshot = Snapshot(seal(payload, 5))
    prints, held, expected = range(30_000), set(keys), []
    for print32 in prints:
        y = (encoders.hash_of(print32) >> 32) * 128
        expected.append((y >> 32, (y & 0xFFFFFFFF) >> 20) in held)
    assert snapshot.might_contain_fingerprints(prints).tolist() == expected
    assert sum(expected) > 50
    assert [snapshot.might_contain_fingerprint(p) for p in prints[:5_000]] == expected[:5_000]
    fresh = Snapshot(seal(payload, 5))  # one that hasn't decoded anything yet
    assert [fresh.might_contain_fingerprint(p) for p in prints[:5_000]] == expected[:5_000]


def quotient_block(offset, occupied, ends, slots=64, r=8):
    return struct.pack("<HQQ", offset, occupied, ends) + bytes((slots * r + 7) // 8)


@pytest.mark.parametrize(
    "payload, words",
    [
        (struct.pack("<BII", 0, 64, 64) + quotient_block(0, 0, 0, r=1), "r is 0"),
        (struct.pack("<BII", 33, 64, 64) + quotient_block(0, 0, 0, r=33), "r is 33"),
        (struct.pack("<BII", 8, 0, 64) + quotient_block(0, 0, 0), "quotients is 0"),
        (struct.pack("<BII", 8, 65, 64) + quotient_block(0, 0, 0), "slots is 64"),
        (struct.pack("<BII", 8, 60, 64) + quotient_block(0, 1 << 60, 1 << 60), "quotient 60 is occupied"),
        (
            struct.pack("<BII", 8, 60, 62) + quotient_block(0, 1 << 59, 1 << 62, slots=62),
            "a run ends in slot 62",
        ),
        (struct.pack("<BII", 8, 64, 64) + quotient_block(0, 3, 1), "2 occupied quotients, but 1 run ends"),
        (struct.pack("<BII", 8, 64, 64) + quotient_block(0, 2, 1), "before its quotient's own slot"),
        (struct.pack("<BII", 8, 64, 64) + quotient_block(1, 1, 1), "offset"),
        (struct.pack("<BII", 8, 128, 128) + quotient_block(0, 1, 0) + quotient_block(0, 0, 1), "offset"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_quotient_filter_that_breaks_a_rule_is_refused(payload, words):
    with pytest.raises(MalformedSnapshotError, match=words):
        Snapshot(seal(payload, 5))


# --- kind 7


def test_the_oldest_are_evicted_and_each_leads_to_its_details():
    prints = list(map(encoders.print_of, ITEMS[:300]))
    days = encoders.by_day(prints)
    ordered = [p for _, items in days for p in items]
    first = (1 << 32) - 100  # the numbers begin again at 0 on the way
    snapshot = Snapshot(seal(encoders.indexed_cuckoo(prints, f=20, n=9, first=first, capacity=200), 7))
    assert snapshot.might_contain_fingerprints(ordered).tolist() == [False] * 100 + [True] * 200
    ids = {encoders.print_of(item): item for item in ITEMS[:300]}
    for number, print32 in enumerate(ordered):
        details = snapshot.details(ids[print32])
        if number < 100:
            assert details == []
            continue
        day, items = next((day, items) for day, items in days if print32 in items)
        expected = (
            (first + number) % 2**32,
            datetime.date(1970, 1, 1) + datetime.timedelta(day),
            items.index(print32),
        )
        assert expected in details and len(details) < 3
    assert snapshot.details("never") == []
    assert Snapshot(snapshot_of("cuckoo", ITEMS[:10])).details(ITEMS[0]) == []


def test_an_entry_older_than_all_rows_has_no_day():
    prints = list(map(encoders.print_of, ITEMS[:10]))
    whole = encoders.indexed_cuckoo(prints, f=20)
    rows = struct.unpack_from("<H", whole, 14)[0]
    payload = whole[:14] + struct.pack("<H", 0) + whole[16 + 8 * rows :]
    (detail,) = Snapshot(seal(payload, 7)).details(ITEMS[0])
    assert detail.day is None and detail.rank is None


# --- kind 10


def test_days_can_be_left_out():
    snapshot = Snapshot(snapshot_of("day_chain", ITEMS[:300]))
    day_of = [DAY + i % encoders.DAYS for i in range(300)]
    ends = [((day + 1) * 86_400 - 1_000) * 1_000 for day in day_of]
    assert all(snapshot.might_contain(item, created_at_ms=end + 999) for item, end in zip(ITEMS, ends)), (
        "the last second counts to its end"
    )
    assert snapshot.unseen(ITEMS[:300], created_at_ms=[end + 999 for end in ends]) == []
    hidden = [snapshot.might_contain(item, created_at_ms=end + 1_000) for item, end in zip(ITEMS, ends)]
    assert sum(hidden) < 15, "only another day's error still says yes"
    batch = snapshot.might_contain_many(ITEMS[:300], created_at_ms=[end + 1_000 for end in ends])
    assert batch.tolist() == hidden
    assert snapshot.unseen(ITEMS[:300], created_at_ms=[None, 0, -5] * 100) == []

    start = datetime.date(1970, 1, 1) + datetime.timedelta(DAY + 10)
    answers = snapshot.might_contain_many(ITEMS[:300], window_start=start)
    assert [snapshot.might_contain(item, window_start=start) for item in ITEMS[:300]] == answers.tolist()
    assert all(answers[[day >= DAY + 10 for day in day_of]])
    assert np.count_nonzero(answers) < 200 + 15


def test_of_an_id_given_twice_the_latest_creation_counts():
    snapshot = Snapshot(snapshot_of("day_chain", ["a"]))
    late = (DAY + 1) * 86_400_000
    assert snapshot.unseen(["a", "b"], created_at_ms=[1, 1]) == ["b"]
    assert snapshot.unseen(["a", "b", "a"], created_at_ms=[1, 1, late]) == ["a", "b"]
    assert snapshot.unseen(["a", "b", "a"], created_at_ms=[late, 1, 1]) == ["a", "b"]


def test_a_chain_of_more_days_than_fit_one_step():
    days = 2_000
    rows = b"".join(struct.pack("<iIIII", DAY - i, 1, 0, 1, 1) for i in range(days))
    blocks = b"".join(encoders.split_block([i], 1) for i in range(days))
    snapshot = Snapshot(seal(struct.pack("<I", days) + rows + blocks, 10))
    assert snapshot.might_contain_fingerprints(range(days)).all()
    assert not snapshot.might_contain_fingerprints(range(10_000, 11_000)).all()


@pytest.mark.parametrize(
    "days, words",
    [
        ([(5, 0)], "no blocks"),
        ([(5, 1), (6, 1)], "descend"),
        ([(5, 2)], "bytes"),
        ([(5, 0xFFFFFFFF)] * 3, "bytes"),
    ],
)
def test_a_chain_that_breaks_a_rule_is_refused(days, words):
    rows = b"".join(struct.pack("<iIIII", day, 1, 0, 1, blocks) for day, blocks in days)
    with pytest.raises(MalformedSnapshotError, match=words):
        Snapshot(seal(struct.pack("<I", len(days)) + rows + bytes(32 * len(days)), 10))


def test_equal_days_may_follow_each_other():
    rows = b"".join(struct.pack("<iIIII", day, 1, 0, 1, 1) for day in (5, 5, -2))
    assert Snapshot(seal(struct.pack("<I", 3) + rows + bytes(96), 10)).unseen(["a"]) == ["a"]


# --- kind 11


@pytest.mark.parametrize("k", [0, 3, 17, 20, 31])
def test_a_set_is_exact_at_its_ends_too(k):
    values = [0, 1, 2, 77, 4_000] if k < 17 else [0, 1, 5_000_000, 2**32 - 2, 2**32 - 1]
    snapshot = Snapshot(seal(encoders.golomb_rice(values, k), 11))
    asked = sorted({max(0, min(2**32 - 1, v + d)) for v in values for d in (-1, 0, 1)})
    expected = [v in values for v in asked]
    assert snapshot.might_contain_fingerprints(asked).tolist() == expected
    assert [snapshot.might_contain_fingerprint(v) for v in asked] == expected


GOOD = encoders.golomb_rice([5, 9], 2)  # gaps 5 and 3: 0 1 10, 1 11 and a bit of padding


@pytest.mark.parametrize(
    "payload",
    [
        b"\0" * 4,
        b"\x20" + bytes(4),
        struct.pack("<BI", 2, 0) + b"\0",
        struct.pack("<BI", 2, 3) + GOOD[5:],
        struct.pack("<BI", 2, 1) + GOOD[5:],
        GOOD + b"\0",
        GOOD[:-1] + bytes([GOOD[-1] | 0x80]),
        struct.pack("<BI", 2, 2) + bytes(4),
        struct.pack("<BI", 0, 0xFFFFFFFF) + b"\xff" * 32,
        struct.pack("<BI", 31, 1) + encoders.packed([0, 0, 1] + [0] * 31, 1),  # 2^32
        struct.pack("<BI", 31, 2) + encoders.packed(([0, 1] + [1] * 31) * 2, 1),  # 2^32 - 1, and one more
        struct.pack("<BI", 31, 1) + encoders.packed([0, 1] + [1] * 21, 1),
    ],
)
def test_a_code_that_breaks_a_rule_is_refused(payload):
    assert Snapshot(seal(GOOD, 11)).might_contain_fingerprints([5, 9, 4]).tolist() == [True, True, False]
    with pytest.raises(MalformedSnapshotError, match="fingerprints"):
        Snapshot(seal(payload, 11))


@pytest.mark.parametrize("items_a_step", [1, 7, 99, 100, 101])
def test_decoding_step_by_step_gives_the_same(items_a_step, monkeypatch):
    monkeypatch.setattr("seen_client.kinds.fingerprint_set.VALUES_A_STEP", items_a_step)
    monkeypatch.setattr("seen_client.kinds.quotient.ITEMS_A_STEP", items_a_step)
    for kind in ("fingerprints", "quotient"):
        snapshot = Snapshot(snapshot_of(kind, ITEMS[:100]))
        answers = snapshot.might_contain_many(ITEMS[:100] + FRESH[:2_000])
        assert answers[:100].all() and np.count_nonzero(answers) < 160
        assert [snapshot.might_contain(item) for item in FRESH[:500]] == answers[100:600].tolist()


# --- fields of the other kinds


@pytest.mark.parametrize(
    "kind, payload, words",
    [
        (2, b"\x07", "bytes"),
        (2, b"\x00\xff", "k is 0"),
        (2, b"\x21\xff", "k is 33"),
        (3, b"\x21\xff", "k is 33"),
        (4, struct.pack("<BBI", 0, 1, 1) + b"\0", "r is 0"),
        (4, struct.pack("<BBI", 33, 1, 1) + bytes(18), "r is 33"),
        (4, struct.pack("<BBI", 6, 17, 1) + bytes(68), "cells is 17"),
        (4, struct.pack("<BBI", 6, 1, 0), "buckets is 0"),
        (6, struct.pack("<BI", 1, 1) + b"\0", "f is 1"),
        (6, struct.pack("<BI", 8, 0), "buckets is 0"),
        (6, struct.pack("<BI", 33, 1) + bytes(17), "f is 33"),
        (7, struct.pack("<BBIIIH", 8, 8, 1, 0, 257, 0) + bytes(8), "capacity is 257"),
        (7, struct.pack("<BBIIIH", 8, 0, 1, 0, 0, 0) + bytes(4), "n is 0"),
        (7, struct.pack("<BBIIIH", 8, 8, 1, 0, 256, 1) + bytes(8), "bytes"),
        (8, struct.pack("<BBI", 19, 0, 0), "length_log2 is 19"),
        (8, struct.pack("<BBI", 0, 0, 0) + b"\0", "bytes"),
        (9, struct.pack("<BBI", 18, 0, 1 << 14), "reach 2\\^32"),
        (8, b"\0" * 5, "bytes"),
    ],
)
def test_a_field_out_of_range_is_refused_by_name(kind, payload, words):
    with pytest.raises(MalformedSnapshotError, match=words):
        Snapshot(seal(payload, kind))


def test_two_items_of_one_bucket_pair_are_told_once():
    """With one bucket, first and second are the same: its four places are looked at once."""
    payload = encoders.indexed_cuckoo([encoders.print_of("a")], f=32, n=32)
    assert struct.unpack_from("<I", payload, 2) == (1,)
    assert len(Snapshot(seal(payload, 7)).details("a")) == 1
