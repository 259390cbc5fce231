"""Integers of any width, packed without gaps, least significant bit first."""

from __future__ import annotations

import numpy as np

from .hashing import U64s

WIDTH_MAX = 57  # of `take`: what an unaligned eight-byte window holds for certain


class BitString:
    """`bits(p, at, width)` of the specification, over `data` from `start` on. Nothing is copied.

    What is asked for must lie within `data`, which has eight bytes or more: a snapshot's header alone has 56.
    """

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._start = start

    def get(self, at: int, width: int) -> int:
        first = self._start + (at >> 3)
        window = self._data[first : first + ((at & 7) + width + 7 >> 3)]
        return int.from_bytes(window, "little") >> (at & 7) & ((1 << width) - 1)

    def take(self, at: U64s, width: int) -> U64s:
        """The values at many places, in an array of the same shape. `width` is 1 to WIDTH_MAX."""
        # The window that would reach beyond the end starts earlier; its bits then stand further up.
        last = len(self._data) - 8
        windows = np.ndarray((last + 1,), dtype="<u8", buffer=self._data, strides=(1,))
        bit = at + np.uint64(8 * self._start)
        first = np.minimum(bit >> np.uint64(3), np.uint64(last))
        shift = bit - (first << np.uint64(3))
        mask = np.uint64((1 << width) - 1)
        taken: U64s = (windows[first.astype(np.intp)].astype(np.uint64) >> shift) & mask
        return taken
