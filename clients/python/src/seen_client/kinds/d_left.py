"""Kind 4: d-left counting Bloom filter. Source: Bonomi et al. 2006, section 3."""

from __future__ import annotations

import struct

import numpy as np

from ..bits import BitString
from ..hashing import LOW_32, MASK_32, SHIFT_32, Bools, U32s, U64s, in_range
from .base import Filter, check_exact_length, check_field, check_length

NAME = "d_left"
FIELDS = struct.Struct("<BBI")
MULTIPLIERS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)
COUNT_BITS = 2


class DLeft(Filter):
    def __init__(self, data: bytes, start: int) -> None:
        payload_bytes = len(data) - start
        check_length(NAME, payload_bytes, FIELDS.size)
        remainder_bits, self._cells, self._buckets = FIELDS.unpack_from(data, start)
        check_field(NAME, "r", remainder_bits, 1, 32)
        check_field(NAME, "cells", self._cells, 1, 16)
        check_field(NAME, "buckets", self._buckets, 1, MASK_32)
        self._width = remainder_bits + COUNT_BITS
        cell_bits = 4 * self._buckets * self._cells * self._width
        check_exact_length(NAME, payload_bytes, FIELDS.size + (cell_bits + 7 >> 3))
        self._remainder_mask = (1 << remainder_bits) - 1
        self._bits = BitString(data, start + FIELDS.size)

    def contains(self, print32: int, hashed: int) -> bool:
        remainder = hashed & self._remainder_mask
        first = (hashed >> 32) * self._buckets >> 32
        for table, multiplier in enumerate(MULTIPLIERS):
            shift = ((remainder + 1) * multiplier & MASK_32) * self._buckets >> 32
            bucket = table * self._buckets + (first + shift) % self._buckets
            for cell in range(bucket * self._cells, (bucket + 1) * self._cells):
                value = self._bits.get(cell * self._width, self._width)
                if value & 3 and value >> COUNT_BITS == remainder:
                    return True
        return False

    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        buckets, cells, width = np.uint64(self._buckets), np.uint64(self._cells), np.uint64(self._width)
        remainder = hashes & np.uint64(self._remainder_mask)
        first = in_range(hashes >> SHIFT_32, self._buckets)
        seen = np.zeros(len(hashes), np.bool_)
        for table, multiplier in enumerate(MULTIPLIERS):
            shift = in_range((remainder + np.uint64(1)) * np.uint64(multiplier) & LOW_32, self._buckets)
            bucket = (first + shift) % buckets + np.uint64(table) * buckets
            cell = (bucket * cells)[:, np.newaxis] + np.arange(self._cells, dtype=np.uint64)
            value = self._bits.take(cell * width, self._width)
            same = value >> np.uint64(COUNT_BITS) == remainder[:, np.newaxis]
            seen |= (same & (value & np.uint64(3) != 0)).any(axis=1)
        return seen
