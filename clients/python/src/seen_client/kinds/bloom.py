"""Kinds 2 and 3: Bloom filter and counting Bloom filter. Source: Bloom 1970; Fan, Cao, Almeida, Broder
2000."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..bits import BitString
from ..hashing import SHIFT_32, Bools, U32s, U64s, in_range
from .base import Filter, check_field, check_length, refuse

MULTIPLIER = 0xD1342543DE82EF95
PAYLOAD_BYTES_MAX = 1 << 29


class Bloom(Filter):
    name: ClassVar[str] = "bloom"
    width: ClassVar[int] = 1  # bits of a cell

    def __init__(self, data: bytes, start: int) -> None:
        payload_bytes = len(data) - start
        check_length(self.name, payload_bytes, 2)
        if payload_bytes > PAYLOAD_BYTES_MAX:
            raise refuse(self.name, f"{payload_bytes} bytes; at most {PAYLOAD_BYTES_MAX}")
        self._k = data[start]
        check_field(self.name, "k", self._k, 1, 32)
        self._cells = 8 // self.width * (payload_bytes - 1)
        self._bits = BitString(data, start + 1)

    def contains(self, print32: int, hashed: int) -> bool:
        for _ in range(self._k):
            if self._bits.get(self.width * ((hashed >> 32) * self._cells >> 32), self.width) == 0:
                return False
            hashed = hashed * MULTIPLIER & 0xFFFFFFFFFFFFFFFF
        return True

    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        seen = np.ones(len(hashes), np.bool_)
        for _ in range(self._k):
            at = in_range(hashes >> SHIFT_32, self._cells) * np.uint64(self.width)
            seen &= self._bits.take(at, self.width) != 0
            hashes = hashes * np.uint64(MULTIPLIER)
        return seen


class CountingBloom(Bloom):
    name: ClassVar[str] = "counting_bloom"
    width: ClassVar[int] = 4
