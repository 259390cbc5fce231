"""A reader of snapshots written from schemas/snapshot.md alone, and a second renderer to compare with."""

import collections
import functools
import struct

from hashes import fingerprint, xxh64

SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
HEADER = struct.Struct("<4sBBBBIIqiiqdII")

Snapshot = collections.namedtuple(
    "Snapshot", "item_count as_of_ms horizon_day partition input_offset false_positive_rate payload")


def read_snapshot(data):
    """ValueError for whatever the page says to refuse, in its order."""
    def refuse_unless(condition, what):
        if not condition:
            raise ValueError(f"snapshot: {what}")
    refuse_unless(data[:4] == b"SEEN", "magic")
    refuse_unless(len(data) >= HEADER.size, "cut off")
    (_, version, form, hash_kind, flags, header_bytes, item_count, as_of_ms, horizon_day, partition,
     input_offset, rate, payload_bytes, checksum) = HEADER.unpack_from(data)
    refuse_unless(version == 1, "version")
    refuse_unless(56 <= header_bytes <= 4096 and header_bytes % 8 == 0, "header_bytes")
    refuse_unless(header_bytes + payload_bytes == len(data), "length")
    refuse_unless(checksum == xxh64(data[:52] + data[56:]) & 0xFFFFFFFF, "checksum")
    refuse_unless((form, hash_kind, flags) == (1, 1, 0), "format, hash or flags")
    refuse_unless(payload_bytes > 0 and payload_bytes % 32 == 0, "payload_bytes")
    refuse_unless(0 < rate <= 0.5, "false_positive_rate")
    return Snapshot(item_count, as_of_ms, horizon_day, partition, input_offset, rate, data[header_bytes:])


@functools.lru_cache(maxsize=None)
def _hash_and_mask(print32):
    """The 64-bit hash's upper half, and the eight bits of a block as one 256-bit little-endian number."""
    hash64 = xxh64(struct.pack("<I", print32))
    low = hash64 & 0xFFFFFFFF
    mask = 0
    for word, salt in enumerate(SALT):
        mask |= 1 << (32 * word + ((low * salt & 0xFFFFFFFF) >> 27))
    return hash64 >> 32, mask


def render(prints, blocks):
    """A split-block Bloom filter of `blocks` 32-byte blocks, as Parquet's BloomFilter.md has it."""
    words = [0] * blocks
    for print32 in prints:
        high, mask = _hash_and_mask(print32)
        words[high * blocks >> 32] |= mask
    return b"".join(word.to_bytes(32, "little") for word in words)


def might_contain(payload, item_id):
    high, mask = _hash_and_mask(fingerprint(item_id))
    at = (high * (len(payload) // 32) >> 32) * 32
    return int.from_bytes(payload[at:at + 32], "little") & mask == mask
