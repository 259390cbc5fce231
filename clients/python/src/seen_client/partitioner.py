"""Which partition a user's records are in: of the input topic, of the snapshot topic, and of which daemon."""

from __future__ import annotations

import struct
import zlib
from typing import Union

_MULTIPLIER, _SEED, _MASK_32 = 0x5BD1E995, 0x9747B28C, 0xFFFFFFFF


def partition_of(user: Union[str, bytes], partitions: int, partitioner: str = "murmur2") -> int:
    """The user's partition among `partitions`, by the daemon's `input.partitioner`: `murmur2`, `crc32` or
    `fnv1a`.

    ValueError for another partitioner, or without partitions.
    """
    key = user.encode() if isinstance(user, str) else user
    if partitions < 1:
        raise ValueError(f"partitions {partitions}; 1 or more is allowed")
    if partitioner == "murmur2":  # as Kafka's Java clients map keys
        return (murmur2(key) & 0x7FFFFFFF) % partitions
    if partitioner == "crc32":  # as librdkafka and kcat do by default
        return zlib.crc32(key) % partitions
    if partitioner == "fnv1a":  # as Sarama
        return fnv1a(key) % partitions
    raise ValueError(f"partitioner {partitioner!r}; murmur2, crc32 and fnv1a are known: update seen-client")


def fnv1a(key: bytes) -> int:
    """FNV-1a of 32 bits as a signed number, without its sign: as Sarama."""
    h = 0x811C9DC5
    for byte in key:
        h = (h ^ byte) * 0x01000193 & _MASK_32
    return h if h < 1 << 31 else (1 << 32) - h


def murmur2(key: bytes) -> int:
    """MurmurHash2 of 32 bits (Appleby 2008) with the seed of Kafka's clients."""
    h = _SEED ^ len(key)
    whole = len(key) & ~3
    for (word,) in struct.iter_unpack("<I", key[:whole]):
        word = word * _MULTIPLIER & _MASK_32
        h = h * _MULTIPLIER & _MASK_32 ^ (word ^ word >> 24) * _MULTIPLIER & _MASK_32
    if len(key) > whole:
        h = (h ^ int.from_bytes(key[whole:], "little")) * _MULTIPLIER & _MASK_32
    h = (h ^ h >> 13) * _MULTIPLIER & _MASK_32
    return h ^ h >> 15
