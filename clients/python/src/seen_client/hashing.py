"""Ids to fingerprints to hashes: schemas/snapshot.md, "Hashing"."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsIndex, Union

import numpy as np
import numpy.typing as npt
import xxhash

ItemId = Union[str, SupportsIndex]
"""A string, or an integer (of Python or of numpy), which is its decimal string."""

U32s = npt.NDArray[np.uint32]
U64s = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]

MASK_32 = 0xFFFFFFFF
LOW_32 = np.uint64(MASK_32)
SHIFT_32 = np.uint64(32)

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P5 = 0x27D4EB2F165667C5
_P5_AND_LENGTH = np.uint64(_P5 + 4)

NEAR, GROUP = 1, 2
"""The domains in which the filter of what is similar knows items and groups."""


def id_text(item: ItemId) -> str:
    """The one spelling of an id: 42 and "42" are the same item. TypeError for what is no id."""
    if isinstance(item, str):
        return item
    if isinstance(item, (bool, np.bool_)):
        raise TypeError(f"an item id is a string or an integer, not {item!r}")
    try:
        return str(operator.index(item))
    except TypeError:
        raise TypeError(f"an item id is a string or an integer, not {type(item).__name__}") from None


def fingerprint(item: ItemId) -> int:
    """The 32 bits that a filter knows of an item."""
    return xxhash.xxh64_intdigest(id_text(item).encode()) >> 32


def fingerprints(items: Sequence[ItemId]) -> U32s:
    """The fingerprint of each, in order."""
    digest = xxhash.xxh64_intdigest
    hashes = np.fromiter((digest(id_text(item).encode()) for item in items), np.uint64, len(items))
    return (hashes >> SHIFT_32).astype(np.uint32)


def hash_of(print32: int) -> int:
    """XXH64 of a fingerprint, which all kinds but one go by."""
    return xxhash.xxh64_intdigest(print32.to_bytes(4, "little"))


def hashes_of(prints: U32s) -> U64s:
    """`hash_of` for each: XXH64 written out for four bytes, modulo 2^64 as numpy's arrays count."""
    acc = _P5_AND_LENGTH ^ (prints.astype(np.uint64) * _P1)
    acc = ((acc << np.uint64(23)) | (acc >> np.uint64(41))) * _P2 + _P3
    acc = (acc ^ (acc >> np.uint64(33))) * _P2
    acc = (acc ^ (acc >> np.uint64(29))) * _P3
    return acc ^ (acc >> SHIFT_32)


def in_domain(print32: int, domain: int) -> int:
    """The fingerprint under which what is similar is kept: of an item's own (NEAR), or of a group id's
    (GROUP)."""
    return xxhash.xxh64_intdigest(print32.to_bytes(4, "little") + bytes((domain,))) >> 32


def in_domain_each(prints: U32s, domain: int) -> U32s:
    """`in_domain` for each: XXH64 written out for five bytes."""
    acc = np.uint64(_P5 + 5) ^ (prints.astype(np.uint64) * _P1)
    acc = ((acc << np.uint64(23)) | (acc >> np.uint64(41))) * _P2 + _P3
    acc = acc ^ np.uint64(domain * _P5 & 0xFFFFFFFFFFFFFFFF)
    acc = ((acc << np.uint64(11)) | (acc >> np.uint64(53))) * _P1
    acc = (acc ^ (acc >> np.uint64(33))) * _P2
    acc = (acc ^ (acc >> np.uint64(29))) * _P3
    return ((acc ^ (acc >> SHIFT_32)) >> SHIFT_32).astype(np.uint32)


def in_range(values: U64s, n: int) -> U64s:
    """`range(x, n)` of the specification: 32-bit values spread over 0 .. n - 1."""
    return (values * np.uint64(n)) >> SHIFT_32
