"""Users to partitions, as producers map them."""

import pytest

from seen_client import partition_of
from seen_client.partitioner import murmur2

KAFKAS = [  # of org.apache.kafka.common.utils.Utils.murmur2, from Kafka's own UtilsTest
    ("21", -973932308),
    ("foobar", -790332482),
    ("a-little-bit-long-string", -985981536),
    ("a-little-bit-longer-string", -1486304829),
    ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
    ("abc", 479470107),
]


@pytest.mark.parametrize("key, expected", KAFKAS)
def test_murmur2_is_kafkas(key, expected):
    assert murmur2(key.encode()) == expected & 0xFFFFFFFF
    for partitions in (1, 4, 7, 1_000_003):
        assert partition_of(key, partitions) == (expected & 0x7FFFFFFF) % partitions


def test_a_user_is_its_utf8():
    for user in ("", "u1", "用户-1", "🎬"):
        assert partition_of(user, 1_000_003) == partition_of(user.encode(), 1_000_003)


def test_crc32_is_unsigned():
    assert partition_of("123456789", 7, "crc32") == 0xCBF43926 % 7  # CRC-32's check value


def test_fnv1a_has_no_sign():
    assert partition_of("foobar", 7, "fnv1a") == ((1 << 32) - 0xBF9CF968) % 7  # FNV-1a's published value


@pytest.mark.parametrize("partitions, partitioner", [(0, "murmur2"), (3, "random")])
def test_what_it_cannot_know_it_does_not_guess(partitions, partitioner):
    with pytest.raises(ValueError):
        partition_of("u", partitions, partitioner)
