"""Kinds 8 and 9: binary fuse filters. Source: Graf and Lemire 2022, section 3 and algorithm 1."""

from __future__ import annotations

import struct
from typing import ClassVar

import numpy as np

from ..hashing import SHIFT_32, Bools, U32s, U64s, in_range
from .base import Filter, check_exact_length, check_field, check_length, refuse

FIELDS = struct.Struct("<BBI")
MASK_64 = 0xFFFFFFFFFFFFFFFF
STEP, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53


class BinaryFuse8(Filter):
    name: ClassVar[str] = "binary_fuse_8"
    entry_bytes: ClassVar[int] = 1

    def __init__(self, data: bytes, start: int) -> None:
        payload_bytes = len(data) - start
        check_length(self.name, payload_bytes, FIELDS.size)
        length_log2, seed_number, segments = FIELDS.unpack_from(data, start)
        check_field(self.name, "length_log2", length_log2, 0, 18)
        self._length = 1 << length_log2
        self._reach = segments * self._length
        if self._reach >= 1 << 32:
            raise refuse(self.name, f"{segments} segments of {self._length} entries; they reach 2^32")
        entries = (segments + 2) * self._length if segments else 0
        check_exact_length(self.name, payload_bytes, FIELDS.size + entries * self.entry_bytes)
        self._seed = seed_number * STEP & MASK_64
        self._entries = np.frombuffer(
            data, f"<u{self.entry_bytes}", count=entries, offset=start + FIELDS.size
        )

    def contains(self, print32: int, hashed: int) -> bool:
        if not self._reach:
            return False
        x = hashed + self._seed & MASK_64
        x = (x ^ x >> 33) * MIX_1 & MASK_64
        x = (x ^ x >> 33) * MIX_2 & MASK_64
        x ^= x >> 33
        first = (x >> 32) * self._reach >> 32
        second = (first + self._length) ^ (x >> 18 & self._length - 1)
        third = (first + 2 * self._length) ^ (x & self._length - 1)
        entry: int = (x ^ x >> 32) & (1 << 8 * self.entry_bytes) - 1
        for place in (first, second, third):
            entry ^= int(self._entries[place])
        return entry == 0

    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        if not self._reach:
            return np.zeros(len(hashes), np.bool_)
        x = hashes + np.uint64(self._seed)
        x = (x ^ (x >> np.uint64(33))) * np.uint64(MIX_1)
        x = (x ^ (x >> np.uint64(33))) * np.uint64(MIX_2)
        x = x ^ (x >> np.uint64(33))
        length, within = np.uint64(self._length), np.uint64(self._length - 1)
        first = in_range(x >> SHIFT_32, self._reach)
        second = (first + length) ^ ((x >> np.uint64(18)) & within)
        third = (first + length + length) ^ (x & within)
        entry = (x ^ (x >> SHIFT_32)).astype(self._entries.dtype)
        for place in (first, second, third):
            entry = entry ^ self._entries[place.astype(np.intp)]
        seen: Bools = entry == 0
        return seen


class BinaryFuse16(BinaryFuse8):
    name: ClassVar[str] = "binary_fuse_16"
    entry_bytes: ClassVar[int] = 2
