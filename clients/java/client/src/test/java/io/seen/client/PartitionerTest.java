package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;

class PartitionerTest {

  private static List<byte[]> keys() {
    List<byte[]> keys = new ArrayList<>();
    List<String> texts =
        List.of("", "u1", "42", "用户-1", "曝光", "🎬", "\u0000", "é", "e\u0301", "x".repeat(512));
    for (String text : texts) {
      keys.add(text.getBytes(StandardCharsets.UTF_8));
    }
    Random random = new Random(3);
    for (int i = 0; i < 50_000; ++i) {
      byte[] key = new byte[i % 41];
      random.nextBytes(key);
      keys.add(key);
    }
    return keys;
  }

  @Test
  void keysHashAsKafkasClientsHashThem() {
    for (byte[] key : keys()) {
      assertEquals(Utils.murmur2(key), Partitioner.murmur2(key));
      for (int partitions : new int[] {1, 2, 3, 12, 1_000}) {
        int expected = BuiltInPartitioner.partitionForKey(key, partitions);
        assertEquals(expected, Partitioner.MURMUR2.partition(key, partitions));
      }
    }
    assertEquals(
        BuiltInPartitioner.partitionForKey("用户-1".getBytes(StandardCharsets.UTF_8), 7),
        Partitioner.MURMUR2.partition("用户-1", 7));
  }

  @Test
  void crc32IsUnsigned() {
    assertEquals((int) (0xCBF43926L % 7), Partitioner.CRC32.partition("123456789", 7)); // CRC-32's check value
    assertThrows(IllegalArgumentException.class, () -> Partitioner.CRC32.partition("u1", 0));
  }

  @Test
  void fnv1aHasNoSign() {
    assertEquals((int) (((1L << 32) - 0xBF9CF968L) % 7), Partitioner.FNV1A.partition("foobar", 7)); // its published value
  }
}
