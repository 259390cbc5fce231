"""The header that all kinds share: schemas/snapshot.md, "Bytes" and "What to refuse"."""

from __future__ import annotations

import struct
from typing import NamedTuple

import xxhash

from .errors import MalformedSnapshotError, UnsupportedSnapshotError
from .hashing import MASK_32
from .kinds import FilterKind

MAGIC = b"SEEN"
VERSION = 1
HASH = 1
FIELDS = struct.Struct("<4sBBBBIIqiiqdII")
HEADER_BYTES_MAX = 4096
CHECKSUM_AT = 52
FLAG_SIMILAR = 1
SIMILAR_FIELDS = struct.Struct("<IB3xI4x")
FLAG_UPDATES = 2
UPDATES_FIELDS = struct.Struct("<q")
SIMILAR_KINDS = frozenset(FilterKind) - {
    FilterKind.INDEXED_CUCKOO,
    FilterKind.DAY_CHAIN,
}  # none that knows days


class Header(NamedTuple):
    kind: FilterKind
    header_bytes: int
    item_count: int
    as_of_ms: int
    horizon_day: int
    partition: int
    input_offset: int
    false_positive_rate: float
    similar_kind: FilterKind | None = None
    """None: nothing is said of what is similar."""
    similar_bytes: int = 0
    similar_count: int = 0
    generation: int = 0
    """Of `input_offset`. 0: the filter has no updates."""


def read_header(data: bytes, with_updates: bool = False) -> Header:
    """Checks all but the payload, in the specification's order, so that the message is the right one.

    `with_updates`: the caller reads the filter's updates as well."""
    if data[:4] != MAGIC:
        raise MalformedSnapshotError(f"not a snapshot: begins with {data[:4]!r}, not {MAGIC!r}")
    if len(data) < FIELDS.size:
        raise MalformedSnapshotError(
            f"snapshot: cut off: {len(data)} bytes; the header alone has {FIELDS.size}"
        )
    (
        _,
        version,
        form,
        hash_kind,
        flags,
        header_bytes,
        item_count,
        as_of_ms,
        horizon_day,
        partition,
        input_offset,
        rate,
        payload_bytes,
        checksum,
    ) = FIELDS.unpack_from(data)
    if version != VERSION:
        raise UnsupportedSnapshotError(
            f"snapshot: version {version}; this reader knows {VERSION}: update seen-client"
        )
    if not FIELDS.size <= header_bytes <= HEADER_BYTES_MAX or header_bytes % 8:
        raise MalformedSnapshotError(
            f"snapshot: header_bytes is {header_bytes}; it is {FIELDS.size} to {HEADER_BYTES_MAX}, a multiple of 8"
        )
    if len(data) != header_bytes + payload_bytes:
        raise MalformedSnapshotError(
            f"snapshot: {len(data)} bytes; header_bytes {header_bytes} and payload_bytes {payload_bytes} make "
            f"{header_bytes + payload_bytes}"
        )
    computed = checksum_of(data)
    if checksum != computed:
        raise MalformedSnapshotError(
            f"snapshot: damaged: checksum {checksum:08x}, by its bytes {computed:08x}"
        )
    if form not in FilterKind.__members__.values():
        raise UnsupportedSnapshotError(
            f"snapshot: format {form}; this reader knows 1 to {max(FilterKind)}: update seen-client"
        )
    if hash_kind != HASH:
        raise UnsupportedSnapshotError(
            f"snapshot: hash {hash_kind}; this reader knows {HASH}: update seen-client"
        )
    if flags & ~(FLAG_SIMILAR | FLAG_UPDATES):
        raise UnsupportedSnapshotError(
            f"snapshot: flags {flags:#04x}; this reader knows bits 0 and 1: update seen-client"
        )
    if flags & FLAG_UPDATES and not with_updates:
        raise UnsupportedSnapshotError(
            f"snapshot: flags {flags:#04x}: this filter publishes updates; read them as well "
            "(FilterReader, schemas/update.md)"
        )
    if not 0 < rate <= 0.5:
        raise MalformedSnapshotError(
            f"snapshot: false_positive_rate is {rate}; it is above 0, and at most 0.5"
        )
    header = Header(
        FilterKind(form), header_bytes, item_count, as_of_ms, horizon_day, partition, input_offset, rate
    )
    if flags & FLAG_SIMILAR:
        header = _with_similar(header, data, payload_bytes)
    return _with_generation(header, data) if flags & FLAG_UPDATES else header


def _with_similar(header: Header, data: bytes, payload_bytes: int) -> Header:
    if header.header_bytes < FIELDS.size + SIMILAR_FIELDS.size:
        raise MalformedSnapshotError(
            f"snapshot: header_bytes is {header.header_bytes}; with bit 0 of flags it is "
            f"{FIELDS.size + SIMILAR_FIELDS.size} or more"
        )
    similar_bytes, form, count = SIMILAR_FIELDS.unpack_from(data, FIELDS.size)
    if similar_bytes > payload_bytes:
        raise MalformedSnapshotError(
            f"snapshot: similar_bytes is {similar_bytes}, above payload_bytes {payload_bytes}"
        )
    if form not in SIMILAR_KINDS:
        raise UnsupportedSnapshotError(
            f"snapshot: similar_format {form}; this reader knows 1 to 6, 8, 9 and 11: update seen-client"
        )
    return header._replace(similar_kind=FilterKind(form), similar_bytes=similar_bytes, similar_count=count)


def _with_generation(header: Header, data: bytes) -> Header:
    at = FIELDS.size + (SIMILAR_FIELDS.size if header.similar_kind is not None else 0)
    if header.header_bytes < at + UPDATES_FIELDS.size:
        raise MalformedSnapshotError(
            f"snapshot: header_bytes is {header.header_bytes}; with bit 1 of flags it is "
            f"{at + UPDATES_FIELDS.size} or more"
        )
    (generation,) = UPDATES_FIELDS.unpack_from(data, at)
    if generation < 1:
        raise MalformedSnapshotError(f"snapshot: generation is {generation}; it is 1 or more")
    return header._replace(generation=generation)


def checksum_of(data: bytes) -> int:
    """Over all bytes but the checksum's own four."""
    state = xxhash.xxh64(data[:CHECKSUM_AT])
    state.update(memoryview(data)[FIELDS.size :])
    return state.intdigest() & MASK_32
