"""The eleven kinds of filters, a file each: parsing and refusing, one look-up, and look-ups of many at
once."""

from __future__ import annotations

from .base import Filter, FilterKind
from .binary_fuse import BinaryFuse8, BinaryFuse16
from .bloom import Bloom, CountingBloom
from .cuckoo import Cuckoo
from .d_left import DLeft
from .day_chain import DayChain
from .fingerprint_set import FingerprintSet
from .indexed_cuckoo import Entry, IndexedCuckoo
from .quotient import Quotient
from .split_block_bloom import SplitBlockBloom

FILTERS: dict[FilterKind, type[Filter]] = {
    FilterKind.SPLIT_BLOCK_BLOOM: SplitBlockBloom,
    FilterKind.BLOOM: Bloom,
    FilterKind.COUNTING_BLOOM: CountingBloom,
    FilterKind.D_LEFT: DLeft,
    FilterKind.QUOTIENT: Quotient,
    FilterKind.CUCKOO: Cuckoo,
    FilterKind.INDEXED_CUCKOO: IndexedCuckoo,
    FilterKind.BINARY_FUSE_8: BinaryFuse8,
    FilterKind.BINARY_FUSE_16: BinaryFuse16,
    FilterKind.DAY_CHAIN: DayChain,
    FilterKind.FINGERPRINTS: FingerprintSet,
}

__all__ = ["FILTERS", "DayChain", "Entry", "Filter", "FilterKind", "IndexedCuckoo"]
