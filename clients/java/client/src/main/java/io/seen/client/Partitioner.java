package io.seen.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * Which partition a user's records are in: of the input topic, of the snapshot topic, which has as many, and of which
 * watermark. As the daemon's {@code input.partitioner}. Any thread.
 */
public enum Partitioner {
  /** As Kafka's Java clients map keys. */
  MURMUR2 {
    @Override
    int hash(byte[] key) {
      return murmur2(key) & Integer.MAX_VALUE;
    }
  },
  /** As librdkafka and kcat do by default. */
  CRC32 {
    @Override
    int hash(byte[] key) {
      CRC32 crc = new CRC32();
      crc.update(key);
      return (int) crc.getValue();
    }
  },
  /** As Sarama, Go's client: FNV-1a as a signed number, without its sign. */
  FNV1A {
    @Override
    int hash(byte[] key) {
      int h = 0x811c9dc5;
      for (byte each : key) {
        h = (h ^ each & 0xFF) * 0x01000193;
      }
      return Math.abs(h);
    }
  };

  /** 32 bits, unsigned. */
  abstract int hash(byte[] key);

  /**
   * The partition of a user's key among {@code partitions}.
   *
   * @throws IllegalArgumentException if {@code partitions} is below 1
   */
  public int partition(String user, int partitions) {
    return partition(user.getBytes(StandardCharsets.UTF_8), partitions);
  }

  /** The same of a key's bytes. */
  public int partition(byte[] key, int partitions) {
    if (partitions < 1) {
      throw new IllegalArgumentException("partitions " + partitions + "; 1 or more is allowed");
    }
    return Integer.remainderUnsigned(hash(key), partitions);
  }

  /** MurmurHash2 of 32 bits (Appleby 2008) with Kafka's seed. */
  static int murmur2(byte[] key) {
    final int multiplier = 0x5bd1e995;
    ByteBuffer bytes = ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
    int h = 0x9747b28c ^ key.length;
    while (bytes.remaining() >= Integer.BYTES) {
      int word = bytes.getInt() * multiplier;
      h = h * multiplier ^ (word ^ word >>> 24) * multiplier;
    }
    if (bytes.hasRemaining()) {
      for (int i = key.length - 1; i >= bytes.position(); --i) {
        h ^= (key[i] & 0xFF) << 8 * (i & 3);
      }
      h *= multiplier;
    }
    h = (h ^ h >>> 13) * multiplier;
    return h ^ h >>> 15;
  }
}
