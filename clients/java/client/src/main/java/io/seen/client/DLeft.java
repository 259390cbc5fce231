package io.seen.client;

/**
 * Kind 4: the d-left counting Bloom filter. Source: Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006, section 3.
 */
final class DLeft extends Filter {
  static final long[] MULTIPLIER = {0x9e3779b1L, 0x85ebca77L, 0xc2b2ae3dL, 0x27d4eb2fL};
  private static final int FIELDS_BYTES = 6;
  private static final int COUNT_BITS = 2;

  private final Payload payload;
  private final int remainderBits;
  private final int cells;
  private final long buckets;

  DLeft(Payload payload) throws MalformedException {
    payload.refuseBelow(FIELDS_BYTES, Kind.D_LEFT);
    this.payload = payload;
    this.remainderBits = payload.u8(0);
    this.cells = payload.u8(1);
    this.buckets = payload.u32(2);
    Payload.refuseOutside(remainderBits, 1, 32, "r", Kind.D_LEFT);
    Payload.refuseOutside(cells, 1, 16, "cells", Kind.D_LEFT);
    Payload.refuseOutside(buckets, 1, 0xFFFFFFFFL, "buckets", Kind.D_LEFT);
    long bits = MULTIPLIER.length * buckets * cells * (remainderBits + COUNT_BITS);
    payload.refuseUnlessSize(FIELDS_BYTES + (bits + 7) / 8, Kind.D_LEFT);
  }

  @Override
  boolean mightContain(int fingerprint) {
    long h = Fingerprints.hash(fingerprint);
    long remainder = h & ((1L << remainderBits) - 1);
    long first = Payload.range(h >>> 32, buckets);
    int cellBits = remainderBits + COUNT_BITS;
    for (int i = 0; i < MULTIPLIER.length; ++i) {
      long shift = Payload.range((remainder + 1) * MULTIPLIER[i] & 0xFFFFFFFFL, buckets);
      long bucket = (first + shift) % buckets;
      long at = 8 * FIELDS_BYTES + (i * buckets + bucket) * cells * cellBits;
      for (int j = 0; j < cells; ++j, at += cellBits) {
        long cell = payload.bits(at, cellBits);
        if ((cell & 3) != 0 && cell >>> COUNT_BITS == remainder) {
          return true;
        }
      }
    }
    return false;
  }
}
