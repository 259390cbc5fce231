package io.seen.client;

import java.nio.ByteBuffer;

/** Bytes of a filter or an update, read in place by absolute positions: little-endian, any thread. */
final class Payload {
  private static final int LONG_BITS_MAX = 57; // what a long holds of a bit string that starts within a byte

  final int size;
  private final ByteBuffer bytes;

  /** {@code bytes}: from position 0, little-endian. */
  Payload(ByteBuffer bytes) {
    this.bytes = bytes;
    this.size = bytes.limit();
  }

  int u8(int at) {
    return bytes.get(at) & 0xFF;
  }

  int u16(int at) {
    return bytes.getShort(at) & 0xFFFF;
  }

  int i32(int at) {
    return bytes.getInt(at);
  }

  long u32(int at) {
    return bytes.getInt(at) & 0xFFFFFFFFL;
  }

  long u64(int at) {
    return bytes.getLong(at);
  }

  byte[] bytes(int at, int count) {
    byte[] copy = new byte[count];
    ByteBuffer from = bytes.duplicate();
    from.position(at);
    from.get(copy);
    return copy;
  }

  /** {@code width} bits, at most 57, from bit {@code at} of the payload on. */
  long bits(long at, int width) {
    assert width <= LONG_BITS_MAX;
    int from = (int) (at >>> 3);
    int shift = (int) (at & 7);
    long mask = (1L << width) - 1;
    if (from <= size - Long.BYTES) {
      return (bytes.getLong(from) >>> shift) & mask;
    }
    long word = 0;
    int past = from + ((shift + width + 7) >>> 3);
    for (int i = past - 1; i >= from; --i) {
      word = word << 8 | u8(i);
    }
    return (word >>> shift) & mask;
  }

  /** Where {@code x}, below 2^32, falls among {@code n} parts. */
  static long range(long x, long n) {
    return (x * n) >>> 32;
  }

  void refuseBelow(int bytesMin, Kind kind) throws MalformedException {
    if (size < bytesMin) {
      throw malformed(kind, "payload_bytes " + size + "; at least " + bytesMin + " are needed");
    }
  }

  void refuseUnlessSize(long expected, Kind kind) throws MalformedException {
    if (size != expected) {
      throw malformed(kind, "payload_bytes " + size + "; its own fields say " + expected);
    }
  }

  static void refuseOutside(long value, long min, long max, String field, Kind kind) throws MalformedException {
    if (value < min || value > max) {
      throw malformed(kind, field + " " + value + "; " + min + " to " + max + " is allowed");
    }
  }

  static MalformedException malformed(Kind kind, String what) {
    return new MalformedException("snapshot: " + kind.configurationName() + ": " + what);
  }
}
