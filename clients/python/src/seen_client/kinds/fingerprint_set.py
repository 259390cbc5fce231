"""Kind 11: the exact set of fingerprints, Golomb-Rice coded. Source: Rice and Plaunt 1971."""

from __future__ import annotations

import bisect

import numpy as np
import numpy.typing as npt

from ..bits import BitString
from ..hashing import Bools, U32s, U64s
from .base import Filter, check_field, check_length, refuse

NAME = "fingerprints"
FIELDS_BYTES = 5
VALUES_A_STEP = 1 << 12  # decoded at a time, so that memory stays near that of the values


class FingerprintSet(Filter):
    """Decoded when it is read, since only that tells whether it is whole: four bytes a fingerprint stay in
    memory."""

    def __init__(self, data: bytes, start: int) -> None:
        check_length(NAME, len(data) - start, FIELDS_BYTES)
        k, count = data[start], int.from_bytes(data[start + 1 : start + FIELDS_BYTES], "little")
        check_field(NAME, "k", k, 0, 31)
        self._values = _decode(data, start + FIELDS_BYTES, k, count)
        self._sorted = self._values.data  # whose elements are Python's integers

    def contains(self, print32: int, hashed: int) -> bool:
        at = bisect.bisect_left(self._sorted, print32)
        return at < len(self._sorted) and self._sorted[at] == print32

    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        if not len(self._values):
            return np.zeros(len(prints), np.bool_)
        at = np.searchsorted(self._values, prints)
        seen: Bools = self._values[np.minimum(at, len(self._values) - 1)] == prints
        return seen


def _decode(data: bytes, start: int, k: int, count: int) -> U32s:
    code = np.frombuffer(data, np.uint8, offset=start)
    if count > 8 * len(code) // (k + 1):
        raise refuse(NAME, f"{len(code)} bytes can't hold {count} values")
    bits = np.unpackbits(code, bitorder="little").tobytes()
    packed = BitString(data, start)
    values = np.empty(count, np.uint32)
    at = lowest = 0
    for first in range(0, count, VALUES_A_STEP):
        step = values[first : first + VALUES_A_STEP]
        ends = _ends_of_zeros(bits, at, k, len(step))
        high = np.diff(ends, prepend=at - k - 1).astype(np.uint64) - np.uint64(k + 1)
        at = int(ends[-1]) + 1 + k
        if at > len(bits):
            raise refuse(NAME, "the code ends within a value")
        if int(high.max()) >> (32 - k):
            raise refuse(NAME, "a value lies beyond 32 bits")
        gaps = high << np.uint64(k)
        if k:
            gaps |= packed.take((ends + 1).astype(np.uint64), k)
        wide = np.cumsum(gaps) + np.arange(lowest, lowest + len(step), dtype=np.uint64)
        if int(wide[-1]) >> 32:
            raise refuse(NAME, "a value lies beyond 32 bits")
        lowest = int(wide[-1]) + 1
        step[:] = wide
    if len(code) != at + 7 >> 3 or bits.find(1, at) >= 0:
        raise refuse(NAME, "more follows the last value")
    return values


def _ends_of_zeros(bits: bytes, at: int, k: int, count: int) -> npt.NDArray[np.int64]:
    """For each value from bit `at` on the place of the one that ends its zeros. `bits` has a byte for each
    bit."""
    ends = np.empty(count, np.int64)
    places, find = ends.data, bits.find
    for i in range(count):
        end = find(1, at)
        if end < 0:
            raise refuse(NAME, "the code ends before its last value")
        places[i] = end
        at = end + 1 + k
    return ends
