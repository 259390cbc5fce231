"""Kind 6: cuckoo filter. Source: Fan, Andersen, Kaminsky, Mitzenmacher 2014, algorithms 1 to 3."""

from __future__ import annotations

import struct

import numpy as np

from ..bits import BitString
from ..hashing import LOW_32, MASK_32, SHIFT_32, Bools, U32s, U64s, in_range
from .base import Filter, check_exact_length, check_field, check_length

NAME = "cuckoo"
FIELDS = struct.Struct("<BI")
PLACES = 4
MULTIPLIER = 0x9E3779B1


class Buckets:
    """Where an item may stand: shared with the indexed kind."""

    def __init__(self, entry_bits: int, buckets: int) -> None:
        self._entries = (1 << entry_bits) - 1
        self._buckets = buckets

    def entry_and_places(self, hashed: int) -> tuple[int, list[int]]:
        """The entry of an item, and the numbers of its eight places (four, where both buckets are one)."""
        entry = ((hashed & MASK_32) * self._entries >> 32) + 1
        first = (hashed >> 32) * self._buckets >> 32
        second = (
            ((entry * MULTIPLIER & MASK_32) * self._buckets >> 32) + self._buckets - first
        ) % self._buckets
        buckets = (first,) if first == second else (first, second)
        return entry, [PLACES * bucket + place for bucket in buckets for place in range(PLACES)]

    def entries_and_places(self, hashes: U64s) -> tuple[U64s, U64s]:
        """For each item its entry, and its eight places in a row."""
        buckets = np.uint64(self._buckets)
        entry = in_range(hashes & LOW_32, self._entries) + np.uint64(1)
        first = in_range(hashes >> SHIFT_32, self._buckets)
        second = (in_range(entry * np.uint64(MULTIPLIER) & LOW_32, self._buckets) + buckets - first) % buckets
        both: U64s = np.stack([first, second], axis=1)
        within: U64s = np.arange(PLACES, dtype=np.uint64)
        places: U64s = np.repeat(both * np.uint64(PLACES), PLACES, axis=1) + np.tile(within, 2)
        return entry, places


class Cuckoo(Filter):
    def __init__(self, data: bytes, start: int) -> None:
        payload_bytes = len(data) - start
        check_length(NAME, payload_bytes, FIELDS.size)
        self._width, buckets = FIELDS.unpack_from(data, start)
        check_field(NAME, "f", self._width, 2, 32)
        check_field(NAME, "buckets", buckets, 1, MASK_32)
        check_exact_length(NAME, payload_bytes, FIELDS.size + (PLACES * buckets * self._width + 7 >> 3))
        self._buckets = Buckets(self._width, buckets)
        self._bits = BitString(data, start + FIELDS.size)

    def contains(self, print32: int, hashed: int) -> bool:
        entry, places = self._buckets.entry_and_places(hashed)
        return any(self._bits.get(place * self._width, self._width) == entry for place in places)

    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        entry, places = self._buckets.entries_and_places(hashes)
        found = self._bits.take(places * np.uint64(self._width), self._width)
        seen: Bools = (found == entry[:, np.newaxis]).any(axis=1)
        return seen
