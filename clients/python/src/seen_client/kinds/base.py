"""What all kinds have in common."""

from __future__ import annotations

import abc
import enum

from ..errors import MalformedSnapshotError
from ..hashing import Bools, U32s, U64s


class FilterKind(enum.IntEnum):
    """The kinds of filters by the envelope's number; the names in lower case are the configuration's."""

    SPLIT_BLOCK_BLOOM = 1
    BLOOM = 2
    COUNTING_BLOOM = 3
    D_LEFT = 4
    QUOTIENT = 5
    CUCKOO = 6
    INDEXED_CUCKOO = 7
    BINARY_FUSE_8 = 8
    BINARY_FUSE_16 = 9
    DAY_CHAIN = 10
    FINGERPRINTS = 11


class Filter(abc.ABC):
    """A payload that has been checked; `data` is the whole snapshot and the payload all of it from `start`
    on.

    Doesn't change, but for what is decoded at the first batch; any number of threads may ask.
    """

    @abc.abstractmethod
    def __init__(self, data: bytes, start: int) -> None:
        """MalformedSnapshotError if the payload breaks a rule of its kind."""

    @abc.abstractmethod
    def contains(self, print32: int, hashed: int) -> bool:
        """May it have been seen? `hashed` is `hash_of(print32)`."""

    @abc.abstractmethod
    def contains_many(self, prints: U32s, hashes: U64s) -> Bools:
        """The same for many, in order; `hashes` is `hashes_of(prints)`."""


def refuse(kind: str, what: str) -> MalformedSnapshotError:
    return MalformedSnapshotError(f"snapshot: payload of kind {kind}: {what}")


def check_length(kind: str, payload_bytes: int, minimum: int) -> None:
    if payload_bytes < minimum:
        raise refuse(kind, f"{payload_bytes} bytes; it takes {minimum} or more")


def check_exact_length(kind: str, payload_bytes: int, expected: int) -> None:
    if payload_bytes != expected:
        raise refuse(kind, f"{payload_bytes} bytes; by its fields it has {expected}")


def check_field(kind: str, name: str, value: int, lowest: int, highest: int) -> None:
    if not lowest <= value <= highest:
        raise refuse(kind, f"{name} is {value}; it is {lowest} to {highest}")
