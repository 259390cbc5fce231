"""Kind 5: quotient filter by rank and select. Source: Pandey, Bender, Johnson, Patro 2017, section 4."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from ..bits import BitString
from ..hashing import LOW_32, MASK_32, SHIFT_32, Bools, U32s, U64s
from .base import Filter, check_exact_length, check_field, check_length, refuse

NAME = "quotient"
FIELDS = struct.Struct("<BII")
BLOCK = struct.Struct("<HQQ")
SLOTS_MAX = (1 << 32) - 64
RUN_SCANNED_MAX = 256
ITEMS_A_STEP = 1 << 14

Places = npt.NDArray[np.int64]


class Quotient(Filter):
    """The first batch decodes it into a sorted array of eight bytes an item, which stays."""

    def __init__(self, data: bytes, start: int) -> None:
        payload_bytes = len(data) - start
        check_length(NAME, payload_bytes, FIELDS.size)
        self._r, self._quotients, self._slots = FIELDS.unpack_from(data, start)
        check_field(NAME, "r", self._r, 1, 32)
        check_field(NAME, "quotients", self._quotients, 1, MASK_32)
        check_field(NAME, "slots", self._slots, self._quotients, SLOTS_MAX)
        blocks = self._slots + 63 >> 6
        last_bytes = BLOCK.size + ((self._slots - 64 * (blocks - 1)) * self._r + 7 >> 3)
        self._stride = BLOCK.size + 8 * self._r
        check_exact_length(NAME, payload_bytes, FIELDS.size + (blocks - 1) * self._stride + last_bytes)
        self._data, self._first_block = data, start + FIELDS.size
        self._bits = BitString(data, self._first_block)
        self._keys: U64s | None = None
        self._check(blocks)

    def contains(self, print32: int, hashed: int) -> bool:
        y = (hashed >> 32) * self._quotients
        quotient, remainder = y >> 32, (y & MASK_32) >> (32 - self._r)
        offset, occupied, _ = self._block(quotient >> 6)
        if not occupied >> (quotient & 63) & 1:
            return False
        rank = bin(occupied & ((2 << (quotient & 63)) - 1)).count("1")
        end = self._select((quotient & ~63) + offset, rank)
        for slot in range(end, max(quotient, end - RUN_SCANNED_MAX) - 1, -1):
            if slot < end and self._is_run_end(slot):
                return False
            if (
                self._bits.get(
                    8 * self._stride * (slot >> 6) + 8 * BLOCK.size + self._r * (slot & 63), self._r
                )
                == remainder
            ):
                return True
        if quotient >= end - RUN_SCANNED_MAX:
            return False
        return bool(self._contains_keys(np.array([quotient << 32 | remainder], np.uint64))[0])

    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        y = (hashes >> SHIFT_32) * np.uint64(self._quotients)
        return self._contains_keys((y >> SHIFT_32 << SHIFT_32) | ((y & LOW_32) >> np.uint64(32 - self._r)))

    def _contains_keys(self, keys: U64s) -> Bools:
        if self._keys is None:
            self._keys = self._decode()
        if not len(self._keys):
            return np.zeros(len(keys), np.bool_)
        at = np.searchsorted(self._keys, keys)
        seen: Bools = self._keys[np.minimum(at, len(self._keys) - 1)] == keys
        return seen

    def _block(self, block: int) -> tuple[int, int, int]:
        """Offset, occupied, run ends."""
        fields: tuple[int, int, int] = BLOCK.unpack_from(self._data, self._first_block + block * self._stride)
        return fields

    def _is_run_end(self, slot: int) -> bool:
        return bool(self._block(slot >> 6)[2] >> (slot & 63) & 1)

    def _select(self, start: int, rank: int) -> int:
        """The slot of the `rank`-th run end at or after `start`; there is one, as has been checked."""
        block = start >> 6
        ends = self._block(block)[2] >> (start & 63) << (start & 63)
        while (count := bin(ends).count("1")) < rank:
            rank -= count
            block += 1
            ends = self._block(block)[2]
        for _ in range(rank - 1):
            ends &= ends - 1
        return 64 * block + (ends & -ends).bit_length() - 1

    def _places(self, blocks: int) -> tuple[npt.NDArray[np.uint16], Places, Places]:
        """Each block's offset; the occupied quotients; the ends of their runs."""

        def field(at: int, dtype: str) -> npt.NDArray[np.uint8]:
            raw: npt.NDArray[np.uint8] = np.ndarray(
                (blocks, np.dtype(dtype).itemsize),
                np.uint8,
                self._data,
                self._first_block + at,
                (self._stride, 1),
            )
            return np.ascontiguousarray(raw)

        def ones(at: int) -> Places:
            return np.flatnonzero(np.unpackbits(field(at, "<u8"), bitorder="little")).astype(
                np.int64, copy=False
            )

        return field(0, "<u2").view("<u2").ravel(), ones(2), ones(10)

    def _check(self, blocks: int) -> None:
        offsets, occupied, ends = self._places(blocks)
        if len(occupied) and occupied[-1] >= self._quotients:
            raise refuse(NAME, f"quotient {occupied[-1]} is occupied; there are {self._quotients}")
        if len(ends) and ends[-1] >= self._slots:
            raise refuse(NAME, f"a run ends in slot {ends[-1]}; there are {self._slots}")
        if len(occupied) != len(ends):
            raise refuse(NAME, f"{len(occupied)} occupied quotients, but {len(ends)} run ends")
        if (ends < occupied).any():
            raise refuse(NAME, "a run ends before its quotient's own slot")
        begins = 64 * np.arange(blocks, dtype=np.int64)
        runs_before = np.searchsorted(occupied, begins)
        behind = np.concatenate([np.zeros(1, np.int64), ends + 1])[runs_before]
        if (offsets != np.maximum(behind - begins, 0)).any():
            raise refuse(NAME, "a block's offset isn't what its bits make it")

    def _decode(self) -> U64s:
        _, occupied, ends = self._places(self._slots + 63 >> 6)
        begins = occupied.copy()
        np.maximum(begins[1:], ends[:-1] + 1, out=begins[1:])
        up_to = np.cumsum(ends - begins + 1)  # items of a run and all before it
        keys: U64s = np.empty(int(up_to[-1]) if len(up_to) else 0, np.uint64)
        for first in range(0, len(keys), ITEMS_A_STEP):
            item = np.arange(first, min(len(keys), first + ITEMS_A_STEP), dtype=np.int64)
            run = np.searchsorted(up_to, item, side="right")
            slot = item + (ends[run] + 1 - up_to[run])
            at = 8 * self._stride * (slot >> 6) + 8 * BLOCK.size + self._r * (slot & 63)
            remainder = self._bits.take(at.astype(np.uint64), self._r)
            keys[item] = (occupied[run].astype(np.uint64) << SHIFT_32) | remainder
        keys.sort()
        return keys
