package io.seen.client;

import java.util.Arrays;

/** A string of bits that grows, filled from the least significant bit of each byte on. */
final class Bits {
  private byte[] bytes = new byte[16];
  private long end;

  /** A string of so many zeros. */
  static Bits zeros(long bits) {
    Bits all = new Bits();
    all.put(bits, 0, 0);
    all.end = bits;
    return all;
  }

  void put(long at, int width, long value) {
    int need = (int) ((at + width + 7) / 8);
    if (need > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(need, 2 * bytes.length));
    }
    for (int j = 0; j < width; ++j) {
      int bit = 1 << ((at + j) % 8);
      int byteAt = (int) ((at + j) / 8);
      bytes[byteAt] = (byte) ((value >>> j & 1) == 1 ? bytes[byteAt] | bit : bytes[byteAt] & ~bit);
    }
    end = Math.max(end, at + width);
  }

  void append(int width, long value) {
    put(end, width, value);
  }

  long get(long at, int width) {
    long value = 0;
    for (int j = 0; j < width; ++j) {
      value |= (long) (bytes[(int) ((at + j) / 8)] >>> ((at + j) % 8) & 1) << j;
    }
    return value;
  }

  byte[] toBytes() {
    return Arrays.copyOf(bytes, (int) ((end + 7) / 8));
  }
}
