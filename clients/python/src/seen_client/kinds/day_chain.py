"""Kind 10: a split-block Bloom filter for each day, so that the reader itself can leave days out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..hashing import SHIFT_32, Bools, U32s, U64s
from .base import Filter, check_exact_length, check_length, refuse
from .split_block_bloom import BLOCK_BYTES, bits_of, mask_of

NAME = "day_chain"
ROW = np.dtype(
    [
        ("day", "<i4"),
        ("item_count", "<u4"),
        ("first_second", "<u4"),
        ("last_second", "<u4"),
        ("blocks", "<u4"),
    ]
)
PAIRS_MAX = 1 << 17  # of an item and a day that are looked at side by side


class DayChain(Filter):
    def __init__(self, data: bytes, start: int) -> None:
        payload_bytes = len(data) - start
        check_length(NAME, payload_bytes, 4)
        days = int.from_bytes(data[start : start + 4], "little")
        fields_bytes = 4 + ROW.itemsize * days
        check_length(NAME, payload_bytes, fields_bytes)
        rows = np.frombuffer(data, ROW, count=days, offset=start + 4)
        self._day, self._last_second, self._blocks = rows["day"], rows["last_second"], rows["blocks"]
        if not self._blocks.all():
            raise refuse(NAME, "a day has no blocks; it has one or more")
        if (self._day[1:] > self._day[:-1]).any():
            raise refuse(NAME, "its days don't descend")
        blocks = self._blocks.astype(np.uint64)
        check_exact_length(NAME, payload_bytes, fields_bytes + BLOCK_BYTES * int(blocks.sum()))
        self._first_block = np.cumsum(blocks) - blocks
        self._data, self._start = data, start + fields_bytes

    def contains(self, print32: int, hashed: int) -> bool:
        return self.contains_since(hashed, None, None)

    def contains_since(self, hashed: int, created_second: int | None, first_day: int | None) -> bool:
        """As `contains`, leaving out what ended before `created_second` and the days before `first_day`."""
        mask = mask_of(hashed)
        for day, last_second, blocks, first_block in zip(
            self._day.tolist(), self._last_second.tolist(), self._blocks.tolist(), self._first_block.tolist()
        ):
            if first_day is not None and day < first_day:
                break
            if created_second is not None and last_second < created_second:
                continue
            at = self._start + BLOCK_BYTES * (first_block + ((hashed >> 32) * blocks >> 32))
            if int.from_bytes(self._data[at : at + BLOCK_BYTES], "little") & mask == mask:
                return True
        return False

    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        return self.contains_many_since(hashes, None, None)

    def contains_many_since(
        self, hashes: U64s, created_seconds: npt.NDArray[np.int64] | None, first_day: int | None
    ) -> Bools:
        """The same for many; `created_seconds` has one for each hash, 0 where it isn't known."""
        days = len(self._day)
        if first_day is not None:
            days = int(np.count_nonzero(self._day >= first_day))
        seen = np.zeros(len(hashes), np.bool_)
        bits = bits_of(hashes)
        days_a_step = max(1, PAIRS_MAX // max(1, len(hashes)))
        for begin in range(0, days, days_a_step):
            some = slice(begin, min(days, begin + days_a_step))
            item, block = self._pairs(hashes, np.flatnonzero(~seen), created_seconds, some)
            seen[self._found(item, block, bits)] = True
        return seen

    def _pairs(
        self,
        hashes: U64s,
        items: npt.NDArray[np.intp],
        created_seconds: npt.NDArray[np.int64] | None,
        days: slice,
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Each of the items with each of the days that may hold it: the item's place, and the block."""
        high = hashes[items] >> SHIFT_32
        blocks = self._blocks[days, np.newaxis].astype(np.uint64)
        block = self._first_block[days, np.newaxis] + (high * blocks >> SHIFT_32)
        item = np.broadcast_to(items, block.shape)
        if created_seconds is None:
            return item.ravel(), block.ravel().astype(np.intp)
        counts = self._last_second[days, np.newaxis].astype(np.int64) >= created_seconds[items]
        return item[counts], block[counts].astype(np.intp)

    def _found(
        self, item: npt.NDArray[np.intp], block: npt.NDArray[np.intp], bits: U32s
    ) -> npt.NDArray[np.intp]:
        """The items of the pairs that find all their bits. Few are left after the first words."""
        words = np.frombuffer(self._data, "<u4", offset=self._start)
        for word in range(8):
            is_set = (words[block * 8 + word] >> bits[item, word]) & np.uint32(1) != 0
            item, block = item[is_set], block[is_set]
        return item
