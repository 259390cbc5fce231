package io.seen.client;

/** Kinds 8 and 9: binary fuse filters. Source: Graf and Lemire 2022, section 3 and algorithm 1. */
final class BinaryFuse extends Filter {
  private static final int FIELDS_BYTES = 6;
  private static final int LENGTH_LOG2_MAX = 18;

  private final Payload payload;
  private final boolean wide; // entries of two bytes
  private final long seed;
  private final int length;
  private final long firsts; // 0: nothing is in

  BinaryFuse(Kind kind, Payload payload) throws MalformedException {
    payload.refuseBelow(FIELDS_BYTES, kind);
    this.payload = payload;
    this.wide = kind == Kind.BINARY_FUSE_16;
    int lengthLog2 = payload.u8(0);
    Payload.refuseOutside(lengthLog2, 0, LENGTH_LOG2_MAX, "length_log2", kind);
    this.length = 1 << lengthLog2;
    this.seed = payload.u8(1) * 0x9e3779b97f4a7c15L;
    long segments = payload.u32(2);
    this.firsts = segments * length;
    Payload.refuseOutside(firsts, 0, 0xFFFFFFFFL, "segments * length", kind);
    long entries = segments == 0 ? 0 : (segments + 2) * length;
    payload.refuseUnlessSize(FIELDS_BYTES + entries * (wide ? 2 : 1), kind);
  }

  @Override
  boolean mightContain(int fingerprint) {
    if (firsts == 0) {
      return false;
    }
    long x = Fingerprints.hash(fingerprint) + seed;
    x = (x ^ (x >>> 33)) * 0xff51afd7ed558ccdL;
    x = (x ^ (x >>> 33)) * 0xc4ceb9fe1a85ec53L;
    x ^= x >>> 33;
    int first = (int) Payload.range(x >>> 32, firsts);
    int second = (first + length) ^ ((int) (x >>> 18) & (length - 1));
    int third = (first + 2 * length) ^ ((int) x & (length - 1));
    int expected = (int) (x ^ (x >>> 32));
    int found = entry(first) ^ entry(second) ^ entry(third);
    return found == (expected & (wide ? 0xFFFF : 0xFF));
  }

  private int entry(int at) {
    return wide ? payload.u16(FIELDS_BYTES + 2 * at) : payload.u8(FIELDS_BYTES + at);
  }
}
