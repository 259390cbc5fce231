"""Kind 7: a cuckoo filter whose entries have numbers: old ones are evicted, and each leads to its details."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from ..bits import BitString
from ..hashing import MASK_32, Bools, U32s, U64s
from .base import Filter, check_exact_length, check_field, check_length
from .cuckoo import PLACES, Buckets

NAME = "indexed_cuckoo"
FIELDS = struct.Struct("<BBIIIH")
DAY = struct.Struct("<iI")


class Entry(NamedTuple):
    """What an entry says of its item."""

    number: int
    """Items are numbered as they were inserted, modulo 2^32."""
    day: int | None
    """Days since 1970-01-01; None where the snapshot has no row for it."""
    rank: int | None
    """Which item of its day, from 0 on."""


class IndexedCuckoo(Filter):
    def __init__(self, data: bytes, start: int) -> None:
        payload_bytes = len(data) - start
        check_length(NAME, payload_bytes, FIELDS.size)
        self._entry_bits, self._number_bits, buckets, self._next, self._capacity, days = FIELDS.unpack_from(
            data, start
        )
        check_field(NAME, "f", self._entry_bits, 2, 32)
        check_field(NAME, "n", self._number_bits, 1, 32)
        check_field(NAME, "buckets", buckets, 1, MASK_32)
        check_field(NAME, "capacity", self._capacity, 0, 1 << self._number_bits)
        self._width = self._entry_bits + self._number_bits
        fields_bytes = FIELDS.size + DAY.size * days
        check_exact_length(NAME, payload_bytes, fields_bytes + (PLACES * buckets * self._width + 7 >> 3))
        self._rows = memoryview(data)[start + FIELDS.size : start + fields_bytes]
        self._buckets = Buckets(self._entry_bits, buckets)
        self._bits = BitString(data, start + fields_bytes)

    def contains(self, print32: int, hashed: int) -> bool:
        return bool(self._ages(hashed))

    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        entry, places = self._buckets.entries_and_places(hashes)
        at = places * np.uint64(self._width)
        found = self._bits.take(at, self._entry_bits) == entry[:, np.newaxis]
        number = self._bits.take(at + np.uint64(self._entry_bits), self._number_bits)
        # 2^32 is added so that the difference stays above zero; it goes with the mask.
        age = np.uint64(self._next - 1 + (1 << 32)) - number & np.uint64((1 << self._number_bits) - 1)
        seen: Bools = (found & (age < np.uint64(self._capacity))).any(axis=1)
        return seen

    def entries(self, hashed: int) -> list[Entry]:
        """All that answer to an id, the newest first. One of them at most is right."""
        return [self._entry(age) for age in self._ages(hashed)]

    def _ages(self, hashed: int) -> list[int]:
        entry, places = self._buckets.entry_and_places(hashed)
        ages = []
        for place in places:
            at = place * self._width
            if self._bits.get(at, self._entry_bits) == entry:
                number = self._bits.get(at + self._entry_bits, self._number_bits)
                age = (self._next - 1 - number) % (1 << self._number_bits)
                if age < self._capacity:
                    ages.append(age)
        return sorted(ages)

    def _entry(self, age: int) -> Entry:
        number = (self._next - 1 - age) & MASK_32
        found: tuple[int | None, int | None] = (None, None)
        for day, first_number in DAY.iter_unpack(self._rows):
            if (self._next - 1 - first_number) & MASK_32 >= age:
                found = day, (number - first_number) & MASK_32
        return Entry(number, *found)
