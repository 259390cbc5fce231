"""Kind 1: Parquet's split-block Bloom filter. Source: Parquet format, BloomFilter.md."""

from __future__ import annotations

import numpy as np

from ..hashing import LOW_32, MASK_32, SHIFT_32, Bools, U32s, U64s, in_range
from .base import Filter, refuse

BLOCK_BYTES = 32
SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
_SALT = np.array(SALT, np.uint32)


def mask_of(hashed: int) -> int:
    """The eight bits of a block that an item sets, as one number of 256 bits."""
    low = hashed & MASK_32
    mask = 0
    for word, salt in enumerate(SALT):
        mask |= 1 << (32 * word + ((low * salt & MASK_32) >> 27))
    return mask


def bits_of(hashes: U64s) -> U32s:
    """For each hash its bit in each of a block's eight words."""
    low = (hashes & LOW_32).astype(np.uint32)
    return (low[:, np.newaxis] * _SALT) >> np.uint32(27)


class SplitBlockBloom(Filter):
    def __init__(self, data: bytes, start: int) -> None:
        payload_bytes = len(data) - start
        if payload_bytes == 0 or payload_bytes % BLOCK_BYTES:
            raise refuse("split_block_bloom", f"{payload_bytes} bytes; it has one block of 32 bytes or more")
        self._data, self._start = data, start
        self._blocks = payload_bytes // BLOCK_BYTES

    def contains(self, print32: int, hashed: int) -> bool:
        at = self._start + BLOCK_BYTES * ((hashed >> 32) * self._blocks >> 32)
        mask = mask_of(hashed)
        return int.from_bytes(self._data[at : at + BLOCK_BYTES], "little") & mask == mask

    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        words = np.frombuffer(self._data, "<u4", offset=self._start).reshape(-1, 8)
        block = in_range(hashes >> SHIFT_32, self._blocks).astype(np.intp)
        is_set = words[block] >> bits_of(hashes) & np.uint32(1)
        seen: Bools = np.logical_and.reduce(is_set, axis=1)
        return seen
