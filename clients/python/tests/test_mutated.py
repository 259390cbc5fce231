"""Any bytes with a right checksum give an answer or SnapshotError: no other exception, warning, hang or
hunger.

Warnings are errors by the settings of pytest. SEEN_SEED replays other choices.
"""

import contextlib
import os
import random
import resource
import struct
import time
import tracemalloc

import pytest

import encoders
from seen_client import Snapshot, SnapshotError

SEED = int(os.environ.get("SEEN_SEED", 20260101))
ROUNDS = 300
BYTES_A_BYTE_MAX = 150  # of memory, while a snapshot is read and decoded
ITEMS = [f"n{i}" for i in range(200)]
ASKED = [encoders.print_of(item) for item in ITEMS[:20]] + list(range(20)) + [2**32 - 1]
NASTY = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFC0]


def mutated(payload, chance):
    data = bytearray(payload)
    for _ in range(chance.choice((1, 1, 2, 5))):
        kind = chance.randrange(6)
        at = chance.randrange(len(data)) if data else 0
        if kind == 0 and data:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and data:
            data[min(at, 24) if chance.random() < 0.5 else at] = chance.randrange(256)
        elif kind == 2 and len(data) >= 24:
            struct.pack_into("<I", data, chance.randrange(20), chance.choice(NASTY))
        elif kind == 3:
            del data[at:]
        elif kind == 4:
            data += chance.randbytes(chance.randrange(1, 40))
        else:
            data[at:at] = chance.randbytes(chance.randrange(1, 9))
    return bytes(data)


def answers_or_refuses(data):
    try:
        snapshot = Snapshot(data)
    except SnapshotError:
        return False
    one_by_one = [snapshot.might_contain_fingerprint(p) for p in ASKED]
    assert snapshot.might_contain_fingerprints(ASKED).tolist() == one_by_one
    assert [Snapshot(data).might_contain_fingerprint(p) for p in ASKED] == one_by_one
    snapshot.details("n1")
    snapshot.unseen(
        ITEMS[:5], created_at_ms=[1, None, 2**80, -(2**80), 1763700000000], window_start=snapshot.horizon
    )
    assert snapshot.recall_size(10) >= 10
    near = snapshot.might_be_near_many(ITEMS[:20]).tolist()
    assert near == [snapshot.might_be_near(item) for item in ITEMS[:20]]
    assert snapshot.might_hold_group_many(ITEMS[:20]).tolist() == list(
        map(snapshot.might_hold_group, ITEMS[:20])
    )
    assert snapshot.has_similar or not any(near)
    return True


@pytest.mark.parametrize(
    "kind", [kind for kind in encoders.NUMBER if kind not in ("indexed_cuckoo", "day_chain")]
)
def test_mutated_payloads_of_what_is_similar(kind):
    chance = random.Random(f"{SEED} {kind} similar")
    prints = list(map(encoders.print_of, ITEMS))
    first = encoders.snapshot_of("bloom", ITEMS[:30])
    payloads = [getattr(encoders, kind)(prints[:n]) for n in (0, 1, 30, 200)]
    answered = 0
    for _ in range(ROUNDS // 2):
        payload = mutated(chance.choice(payloads), chance)
        told = chance.choice((None, None, None, chance.randrange(2**32), chance.randrange(len(payload) + 80)))
        answered += answers_or_refuses(encoders.with_similar(first, payload, encoders.NUMBER[kind], told))
    assert answered, "some still pass all checks"


@pytest.mark.parametrize("kind", encoders.NUMBER)
def test_mutated_payloads(kind):
    chance = random.Random(f"{SEED} {kind}")
    prints = list(map(encoders.print_of, ITEMS))
    payloads = [getattr(encoders, kind)(prints[:n]) for n in (0, 1, 30, 200)]
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answered = 0
    for _ in range(ROUNDS):
        payload = mutated(chance.choice(payloads), chance)
        answered += answers_or_refuses(encoders.seal(payload, encoders.NUMBER[kind]))
    assert answered, "some still pass all checks"
    assert time.monotonic() - began < 30
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 64 * 1024, f"SEEN_SEED={SEED}"


@pytest.mark.parametrize("kind", encoders.NUMBER)
def test_random_payloads_and_one_kinds_payload_as_anothers(kind):
    chance = random.Random(f"{SEED} {kind} random")
    prints = list(map(encoders.print_of, ITEMS))
    for other in encoders.KINDS:
        answers_or_refuses(encoders.seal(other(prints), encoders.NUMBER[kind]))
    for _ in range(ROUNDS):
        answers_or_refuses(encoders.seal(chance.randbytes(chance.randrange(200)), encoders.NUMBER[kind]))


def test_mutated_headers():
    chance = random.Random(f"{SEED} header")
    good = encoders.snapshot_of("split_block_bloom", ITEMS)
    for _ in range(ROUNDS):
        data = bytearray(good)
        for _ in range(chance.choice((1, 2, 4))):
            data[chance.randrange(56)] = chance.randrange(256)
        checksum = encoders.xxhash.xxh64_intdigest(bytes(data[:52] + data[56:])) & encoders.M32
        data[52:56] = struct.pack("<I", checksum)
        answers_or_refuses(bytes(data))


@pytest.mark.parametrize(
    "kind, payload",
    [
        (5, struct.pack("<BII", 1, 64 * 3_800, 64 * 3_800) + (struct.pack("<H", 0) + b"\xff" * 24) * 3_800),
        (11, struct.pack("<BI", 0, 800_000) + b"\xff" * 100_000),
        (11, struct.pack("<BI", 31, 25_000) + b"\xff" * 100_000),
    ],
)
def test_the_densest_payloads_take_memory_in_proportion(kind, payload):
    data = encoders.seal(payload, kind)
    tracemalloc.start()
    try:
        with contextlib.suppress(SnapshotError):
            Snapshot(data).might_contain_fingerprints(ASKED)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < BYTES_A_BYTE_MAX * len(data)
