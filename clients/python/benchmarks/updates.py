#!/usr/bin/env python3
"""How fast FilterReader takes updates and answers, on one core. It prints a row for each size of records.

updates.py            two minutes
updates.py --smoke    some seconds; its figures mean nothing"""

from __future__ import annotations

import argparse
import json
import pathlib
import struct
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE.parent / "tests")]

import encoders  # noqa: E402
from seen_client import FilterReader  # noqa: E402

USERS = 200_000  # that the additions go to, at random
CANDIDATES = 500
SNAPSHOT_ITEMS = 3_000
QUESTIONS = 400
# Entries of users in a record, items of each, additions in all. 20 ms of 4,000 and of 25,000 events/s; pages of
# ten; a quiet partition; and a log as long as it gets.
SIZES = [(83, 1, 4_000_000), (500, 1, 4_000_000), (50, 10, 4_000_000), (5, 1, 200_000), (500, 1, 16_000_000)]


def record(chance: np.random.Generator, hashes: np.ndarray, entries: int, items: int, begin: int) -> bytes:
    fields = struct.pack("<HBBIII", 1, 0, 0, 0, entries, entries * items)
    prints = chance.integers(0, 1 << 32, entries * items, dtype=np.uint32)
    counts = np.full(entries, items, np.uint16)
    users = chance.choice(hashes, entries)
    section = b"".join((fields, users.tobytes(), counts.tobytes(), prints.tobytes()))
    return encoders.update(section, begin=begin, end=begin + entries)


def beat(published_to: int) -> tuple[bytes, bytes]:
    zeros = dict.fromkeys(
        (
            "partition",
            "partition_time_ms",
            "next_offset",
            "lag_messages",
            "unpublished_users",
            "heartbeat_ms",
        ),
        0,
    )
    base = {"generation": 1, "published_to": published_to, "snapshots_to": {"default": 0}}
    return b"0", json.dumps({"version": 1, **zeros, **base}).encode()


def measure(entries: int, items: int, additions: int) -> None:
    chance = np.random.default_rng(1)
    hashes = np.array([encoders.user_hash(f"u{i}") for i in range(USERS)], np.uint64)
    reader = FilterReader("default", [0], additions_max=2 * additions)
    reader.snapshots_end(0, 0)
    reader.take_beat(*beat(0))
    snapshot = encoders.with_updates(
        encoders.snapshot_of("split_block_bloom", [f"i{i}" for i in range(SNAPSHOT_ITEMS)])
    )
    for user in range(QUESTIONS):
        reader.take_snapshot(0, f"u{user}", snapshot)

    taking_s, longest_s, begin = 0.0, 0.0, 0
    while reader.additions < additions:
        one = record(chance, hashes, entries, items, begin)
        start = time.process_time()
        reader.take_update(one)
        took_s = time.process_time() - start
        taking_s, longest_s, begin = taking_s + took_s, max(longest_s, took_s), begin + entries
    taken = reader.additions

    bytes_each = (reader.memory_bytes - QUESTIONS * len(snapshot)) / taken
    candidates, times = [f"c{i}" for i in range(CANDIDATES)], []
    for user in range(QUESTIONS):
        start = time.process_time()
        reader.unseen(f"u{user}", candidates)
        times.append((time.process_time() - start) * 1_000)
    start = time.process_time()
    reader.take_beat(*beat(begin // 2))
    dropping_s = time.process_time() - start
    print(
        f"| {entries * items} | {taken:,} | {taking_s / taken * 1e6:.2f} | {longest_s * 1e3:.0f} | "
        f"{np.median(times):.2f} | {np.quantile(times, 0.99):.2f} | {dropping_s * 1e3:.0f} | {bytes_each:.1f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--smoke", action="store_true")
    sizes = [(83, 1, 100_000), (5, 1, 1_000)] if parser.parse_args().smoke else SIZES
    columns = ("additions a record", "additions", "an addition, µs", "longest record, ms")
    columns += (f"{CANDIDATES} candidates, p50, ms", "p99, ms", "dropping half, ms", "an addition, bytes")
    print(f"| {' | '.join(columns)} |\n|{' ---: |' * len(columns)}")
    for size in sizes:
        measure(*size)


if __name__ == "__main__":
    main()
