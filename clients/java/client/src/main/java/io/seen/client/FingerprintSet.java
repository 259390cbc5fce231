package io.seen.client;

import java.util.Arrays;

/**
 * Kind 11: the exact set, Golomb-Rice coded. Decoded once, as checking it takes that anyhow, and four bytes an item are
 * hardly more than its codes. Source: Rice and Plaunt 1971.
 */
final class FingerprintSet extends Filter {
  static final FingerprintSet EMPTY = new FingerprintSet(new int[0]);

  private static final int FIELDS_BYTES = 5;
  private static final long VALUES = 1L << 32;

  private final int[] values; // ascending as unsigned, each less 2^31, so that they ascend as signed

  private FingerprintSet(int[] values) {
    this.values = values;
  }

  FingerprintSet(Payload payload) throws MalformedException {
    payload.refuseBelow(FIELDS_BYTES, Kind.FINGERPRINTS);
    int k = payload.u8(0);
    long count = payload.u32(1);
    Payload.refuseOutside(k, 0, 31, "k", Kind.FINGERPRINTS);
    long bits = 8L * (payload.size - FIELDS_BYTES);
    Payload.refuseOutside(count, 0, Math.min(bits / (k + 1), Integer.MAX_VALUE - 8), "count", Kind.FINGERPRINTS);
    this.values = decode(payload, k, (int) count);
  }

  private static int[] decode(Payload payload, int k, int count) throws MalformedException {
    int[] values = new int[count];
    long end = 8L * payload.size;
    long at = 8L * FIELDS_BYTES;
    long smallest = 0; // that the next value can be
    for (int i = 0; i < count; ++i) {
      long one = nextOne(payload, at, end);
      long zeros = one - at;
      if (one + 1 + k > end || zeros >= VALUES >>> k) {
        throw Payload.malformed(Kind.FINGERPRINTS, "value " + i + " of " + count + " ends early or is too large");
      }
      long value = smallest + (zeros << k | (k == 0 ? 0 : payload.bits(one + 1, k)));
      if (value >= VALUES) {
        throw Payload.malformed(Kind.FINGERPRINTS, "value " + i + " of " + count + " is too large");
      }
      values[i] = (int) value ^ Integer.MIN_VALUE;
      smallest = value + 1;
      at = one + 1 + k;
    }
    if (end - at >= 8 || nextOne(payload, at, end) != end) {
      throw Payload.malformed(Kind.FINGERPRINTS, "what follows value " + count + " is more than zeros to its byte");
    }
    return values;
  }

  /** The first bit that is set from {@code at} on, or {@code end}. */
  private static long nextOne(Payload payload, long at, long end) {
    for (long bit = at; bit < end; ) {
      int width = (int) Math.min(end - bit, 56 - (bit & 7));
      long word = payload.bits(bit, width);
      if (word != 0) {
        return bit + Long.numberOfTrailingZeros(word);
      }
      bit += width;
    }
    return end;
  }

  @Override
  boolean mightContain(int fingerprint) {
    return Arrays.binarySearch(values, fingerprint ^ Integer.MIN_VALUE) >= 0;
  }
}
