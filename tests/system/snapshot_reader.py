"""A reader of snapshots, also of filters with updates, written from schemas/ alone, and a second renderer to
compare with."""

import collections
import functools
import struct

from hashes import fingerprint, xxh64

SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
HEADER = struct.Struct("<4sBBBBIIqiiqdII")

SIMILAR_FIELDS = struct.Struct("<IB3xII")

# `similar`: the payload of the similar set. None: the snapshot has no similar set.
Snapshot = collections.namedtuple(
    "Snapshot",
    "item_count as_of_ms horizon_day partition input_offset false_positive_rate payload similar similar_count",
    defaults=(None, 0),
)


def read_snapshot(data, updates=True):
    """Raises ValueError for each snapshot that the page says to refuse. The checks are in the order of the
    page. `updates`: whether the reader takes snapshots of filters with updates."""

    def refuse_unless(condition, what):
        if not condition:
            raise ValueError(f"snapshot: {what}")

    refuse_unless(data[:4] == b"SEEN", "magic")
    refuse_unless(len(data) >= HEADER.size, "cut off")
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
    ) = HEADER.unpack_from(data)
    refuse_unless(version == 1, "version")
    refuse_unless(56 <= header_bytes <= 4096 and header_bytes % 8 == 0, "header_bytes")
    refuse_unless(header_bytes + payload_bytes == len(data), "length")
    refuse_unless(checksum == xxh64(data[:52] + data[56:]) & 0xFFFFFFFF, "checksum")
    refuse_unless((form, hash_kind, flags & ~(3 if updates else 1)) == (1, 1, 0), "format, hash or flags")
    refuse_unless(0 < rate <= 0.5, "false_positive_rate")
    payload, similar, similar_count = data[header_bytes:], None, 0
    if flags & 2:  # the field follows those of the similar set
        at = 72 if flags & 1 else 56
        refuse_unless(header_bytes >= at + 8, "header_bytes")
        refuse_unless(struct.unpack_from("<q", data, at)[0] >= 1, "generation")
    if flags & 1:
        refuse_unless(header_bytes >= 72, "header_bytes")
        similar_bytes, similar_form, similar_count, _ = SIMILAR_FIELDS.unpack_from(data, 56)
        refuse_unless(similar_bytes <= payload_bytes, "similar_bytes")
        refuse_unless(similar_form == 1, "similar_format")
        payload, similar = payload[: payload_bytes - similar_bytes], payload[payload_bytes - similar_bytes :]
        refuse_unless(similar and len(similar) % 32 == 0, "similar_bytes")
    refuse_unless(payload and len(payload) % 32 == 0, "payload_bytes")
    return Snapshot(
        item_count, as_of_ms, horizon_day, partition, input_offset, rate, payload, similar, similar_count
    )


@functools.lru_cache(maxsize=None)
def _hash_and_mask(print32):
    """(upper half of the 64-bit hash, the eight bits to set in a block, as one 256-bit little-endian
    number)"""
    hash64 = xxh64(struct.pack("<I", print32))
    low = hash64 & 0xFFFFFFFF
    mask = 0
    for word, salt in enumerate(SALT):
        mask |= 1 << (32 * word + ((low * salt & 0xFFFFFFFF) >> 27))
    return hash64 >> 32, mask


def render(prints, blocks):
    """A split-block Bloom filter of `blocks` 32-byte blocks, as Parquet's BloomFilter.md specifies it."""
    words = [0] * blocks
    for print32 in prints:
        high, mask = _hash_and_mask(print32)
        words[high * blocks >> 32] |= mask
    return b"".join(word.to_bytes(32, "little") for word in words)


def might_contain(payload, item_id):
    return _holds(payload, fingerprint(item_id))


def near_print(item_id):
    """The fingerprint under which the similar set holds an item that is near a seen item."""
    return xxh64(struct.pack("<IB", fingerprint(item_id), 1)) >> 32


def group_print(group_id):
    """The fingerprint under which the similar set holds the group of a seen item."""
    return xxh64(struct.pack("<IB", fingerprint(group_id), 2)) >> 32


def might_be_near(snapshot, item_id):
    return snapshot.similar is not None and _holds(snapshot.similar, near_print(item_id))


def might_hold_group(snapshot, group_id):
    return snapshot.similar is not None and _holds(snapshot.similar, group_print(group_id))


def _holds(payload, print32):
    high, mask = _hash_and_mask(print32)
    at = (high * (len(payload) // 32) >> 32) * 32
    return int.from_bytes(payload[at : at + 32], "little") & mask == mask
