"""The hashes the interface is made of, written a second time, from their specifications alone."""

import functools
import struct
import zlib

M64 = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def _rotate(value, by):
    return ((value << by) | (value >> (64 - by))) & M64


def _round(lane, word):
    return _rotate((lane + word * P2) & M64, 31) * P1 & M64


def xxh64(data, seed=0):
    """XXH64. Source: xxHash's doc/xxhash_spec.md."""
    at, size = 0, len(data)
    if size >= 32:
        lanes = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed, (seed - P1) & M64]
        while at + 32 <= size:
            words = struct.unpack_from("<4Q", data, at)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words)]
            at += 32
        accumulator = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & M64
        for lane in lanes:
            accumulator = ((accumulator ^ _round(0, lane)) * P1 + P4) & M64
    else:
        accumulator = (seed + P5) & M64
    accumulator = (accumulator + size) & M64
    while at + 8 <= size:
        accumulator ^= _round(0, struct.unpack_from("<Q", data, at)[0])
        accumulator = (_rotate(accumulator, 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= size:
        accumulator ^= struct.unpack_from("<I", data, at)[0] * P1 & M64
        accumulator = (_rotate(accumulator, 23) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        accumulator ^= byte * P5 & M64
        accumulator = _rotate(accumulator, 11) * P1 & M64
    accumulator = (accumulator ^ accumulator >> 33) * P2 & M64
    accumulator = (accumulator ^ accumulator >> 29) * P3 & M64
    return accumulator ^ accumulator >> 32


@functools.lru_cache(maxsize=None)
def fingerprint(item_id):
    return xxh64(item_id.encode()) >> 32


def murmur2(data):
    """Kafka's org.apache.kafka.common.utils.Utils.murmur2, made positive."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = (0x9747B28C ^ len(data)) & mask
    whole = len(data) & ~3
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        k = k * m & mask
        k = (k ^ k >> 24) * m & mask
        h = (h * m & mask) ^ k
    if len(data) > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7FFFFFFF


def fnv1a(key):
    """FNV-1a of 32 bits as a signed number, without its sign: as Sarama and librdkafka."""
    value = 0x811C9DC5
    for byte in key:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value if value < 1 << 31 else (1 << 32) - value


def partition_of(user_id, partitions, partitioner="murmur2"):
    hashes = {"murmur2": murmur2, "crc32": zlib.crc32, "fnv1a": fnv1a}
    return hashes[partitioner](user_id.encode()) % partitions
