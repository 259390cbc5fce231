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


class FingerprintSet(Filter):
    """Decoded when it is read, since only that tells whether it is whole: four bytes a fingerprint stay in memory."""

    def __init__(self, data: bytes, start: int) -> None:
        check_length(NAME, len(data) - start, FIELDS_BYTES)
        k, count = data[start], int.from_bytes(data[start + 1:start + FIELDS_BYTES], "little")
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
    ends = _ends_of_zeros(bits, k, count)
    used = int(ends[-1]) + 1 + k if count else 0
    if used > len(bits):
        raise refuse(NAME, "the code ends within a value")
    if len(code) != used + 7 >> 3 or bits.find(1, used) >= 0:
        raise refuse(NAME, "more follows the last value")
    if not count:
        return np.zeros(0, np.uint32)
    begins = np.concatenate([np.zeros(1, np.int64), ends[:-1] + (1 + k)])
    high = (ends - begins).astype(np.uint64)
    if int(high.max()) >> (32 - k):
        raise refuse(NAME, "a value lies beyond 32 bits")
    gaps = high << np.uint64(k)
    if k:
        gaps |= BitString(data, start).take((ends + 1).astype(np.uint64), k)
    values = np.cumsum(gaps) + np.arange(count, dtype=np.uint64)
    if int(values[-1]) >> 32:
        raise refuse(NAME, "a value lies beyond 32 bits")
    return values.astype(np.uint32)


def _ends_of_zeros(bits: bytes, k: int, count: int) -> npt.NDArray[np.int64]:
    """For each value the place of the one that ends its zeros. `bits` has a byte for each bit."""
    ends = np.empty(count, np.int64)
    places = ends.data
    find, at = bits.find, 0
    for i in range(count):
        end = find(1, at)
        if end < 0:
            raise refuse(NAME, f"the code ends before value {i} of {count}")
        places[i] = end
        at = end + 1 + k
    return ends
