"""What is new since the snapshots: schemas/update.md, "Bytes" and "What to refuse"."""

from __future__ import annotations

import struct
from typing import NamedTuple, Union

import numpy as np
import numpy.typing as npt
import xxhash

from .errors import MalformedUpdateError, UnsupportedUpdateError
from .hashing import MASK_32, U32s, U64s

U16s = npt.NDArray[np.uint16]

MAGIC = b"SEEU"
VERSION = 1
FIELDS = struct.Struct("<4sBBHIiqqqqB")
HEADER_BYTES_MIN, HEADER_BYTES_MAX = 56, 8192
CHECKSUM_AT, CHECKED_FROM = 8, 12
FILTERS_MAX = 16
SECTION_FIELDS = struct.Struct("<HBxIII")
USER_BYTES, COUNT_BYTES, PRINT_BYTES = 8, 2, 4
KIND_SEEN, KIND_SIMILAR = 0, 1
NOT_KNOWN = -1


class Section(NamedTuple):
    """Additions that count in the same filters, and equally long. The arrays are views of the record."""

    mask: int
    """Bit i: they count in the i-th filter of the record."""
    kind: int
    """KIND_SEEN: fingerprints of items. KIND_SIMILAR: `near_fingerprint` and `group_fingerprint`."""
    until_s: int
    """They count before this second since 1970. 0: without end."""
    users: U64s
    """XXH64 of each user's id. A user may have several entries."""
    counts: U16s
    """How many of the fingerprints are this user's."""
    fingerprints: U32s


class Update:
    """A record of the topic of updates: the additions of the live events in `[from_offset, to_offset)`."""

    __slots__ = (
        "as_of_ms",
        "filters",
        "from_offset",
        "generation",
        "part",
        "partition",
        "sections",
        "to_offset",
    )

    part: int
    """How many records before this one hold parts of the event at `from_offset`. As a rule 0."""
    partition: int
    generation: int
    from_offset: int
    to_offset: int
    as_of_ms: int
    """Who has everything below `to_offset` has all that the partition held at this time. NOT_KNOWN: -1."""
    filters: tuple[str, ...]
    """The filters that the record tells about. The bits of a section's mask are in this order."""
    sections: tuple[Section, ...]

    def __init__(self, data: Union[bytes, bytearray, memoryview, None]) -> None:
        """Reads and checks the value of a record. UpdateError if it is to be refused."""
        if data is None:
            raise MalformedUpdateError("not an update: a null value")
        if not isinstance(data, bytes):
            data = bytes(memoryview(data))
        header_bytes, names = self._read_header(data)
        self.filters = _names(data, names, header_bytes)
        self.sections = _sections(data, header_bytes, names)

    def _read_header(self, data: bytes) -> tuple[int, int]:
        """All before the names, in the specification's order. Returns where the sections start, and how many
        names there are."""
        if data[:4] != MAGIC:
            raise MalformedUpdateError(f"not an update: begins with {data[:4]!r}, not {MAGIC!r}")
        if len(data) < HEADER_BYTES_MIN:
            raise MalformedUpdateError(
                f"update: cut off: {len(data)} bytes; the header alone has {HEADER_BYTES_MIN}"
            )
        (
            _,
            version,
            self.part,
            header_bytes,
            checksum,
            self.partition,
            self.generation,
            self.from_offset,
            self.to_offset,
            self.as_of_ms,
            names,
        ) = FIELDS.unpack_from(data)
        if version != VERSION:
            raise UnsupportedUpdateError(
                f"update: version {version}; this reader knows {VERSION}: update seen-client"
            )
        if not HEADER_BYTES_MIN <= header_bytes <= min(HEADER_BYTES_MAX, len(data)):
            raise MalformedUpdateError(
                f"update: header_bytes is {header_bytes}; it is {HEADER_BYTES_MIN} to {HEADER_BYTES_MAX}, and "
                f"at most the record's {len(data)} bytes"
            )
        computed = checksum_of(data)
        if checksum != computed:
            raise MalformedUpdateError(
                f"update: damaged: checksum {checksum:08x}, by its bytes {computed:08x}"
            )
        for name, value, lowest in (
            ("partition", self.partition, 0),
            ("generation", self.generation, 1),
            ("from", self.from_offset, 0),
            ("to", self.to_offset, self.from_offset),
            ("as_of_ms", self.as_of_ms, NOT_KNOWN),
        ):
            if value < lowest:
                raise MalformedUpdateError(f"update: {name} is {value}; it is {lowest} or more")
        if not 1 <= names <= FILTERS_MAX:
            raise MalformedUpdateError(f"update: filter_count is {names}; it is 1 to {FILTERS_MAX}")
        return header_bytes, names

    def __repr__(self) -> str:
        return (
            f"<Update of partition {self.partition}, generation {self.generation}: "
            f"[{self.from_offset}, {self.to_offset}) for {', '.join(self.filters)}>"
        )


def _names(data: bytes, count: int, end: int) -> tuple[str, ...]:
    names: list[str] = []
    at = FIELDS.size
    for _ in range(count):
        length = data[at] if at < end else 0
        if length == 0 or at + 1 + length > end:
            raise MalformedUpdateError(
                f"update: name {len(names) + 1} of {count} is empty, or ends beyond header_bytes {end}"
            )
        # Bytes that aren't UTF-8 stay apart from each other, and from the name of any filter.
        name = str(data[at + 1 : at + 1 + length], "utf-8", "surrogateescape")
        if name in names:
            raise MalformedUpdateError(f"update: the name {name!a} comes twice")
        names.append(name)
        at += 1 + length
    return tuple(names)


def _sections(data: bytes, at: int, names: int) -> tuple[Section, ...]:
    sections = []
    while at < len(data):
        if len(data) - at < SECTION_FIELDS.size:
            raise _refuse(at, f"cut off: {len(data) - at} bytes; its fields alone have {SECTION_FIELDS.size}")
        mask, kind, until_s, users, items = SECTION_FIELDS.unpack_from(data, at)
        if not 0 < mask < 1 << names:
            raise _refuse(at, f"mask is {mask:#x}; the record names {names} filters")
        if kind not in (KIND_SEEN, KIND_SIMILAR):
            raise UnsupportedUpdateError(
                f"update: section at {at}: kind {kind}; this reader knows 0 and 1: update seen-client"
            )
        if not users or not items:
            raise _refuse(at, f"users is {users} and items {items}; both are 1 or more")
        hashes = at + SECTION_FIELDS.size
        counts = hashes + USER_BYTES * users
        prints = counts + COUNT_BYTES * users
        end = prints + PRINT_BYTES * items
        if end > len(data):
            raise _refuse(at, f"cut off: by its fields it ends at {end}, and the record at {len(data)}")
        section = Section(
            mask,
            kind,
            until_s,
            np.frombuffer(data, "<u8", users, hashes),
            np.frombuffer(data, "<u2", users, counts),
            np.frombuffer(data, "<u4", items, prints),
        )
        total = int(np.add.reduce(section.counts, dtype=np.int64))
        if total != items:
            raise _refuse(at, f"the users' counts add up to {total}, and items is {items}")
        if np.count_nonzero(section.counts) != users:
            raise _refuse(at, "a user's count is 0; it is 1 or more")
        sections.append(section)
        at = end
    return tuple(sections)


def _refuse(at: int, what: str) -> MalformedUpdateError:
    return MalformedUpdateError(f"update: section at {at}: {what}")


def checksum_of(data: bytes) -> int:
    """Over all bytes but the checksum's own four."""
    state = xxhash.xxh64(data[:CHECKSUM_AT])
    state.update(memoryview(data)[CHECKED_FROM:])
    return state.intdigest() & MASK_32
