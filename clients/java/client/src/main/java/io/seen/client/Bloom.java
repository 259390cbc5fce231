package io.seen.client;

/** Kind 2: the Bloom filter. Source: Bloom 1970; the multiplier: Steele and Vigna 2022. */
final class Bloom extends Filter {
  static final long MULTIPLIER = 0xd1342543de82ef95L;
  private static final int K_MAX = 32;
  private static final int PAYLOAD_BYTES_MAX = 1 << 29;

  private final Payload payload;
  private final int k;
  private final long bits;

  Bloom(Payload payload) throws MalformedException {
    this.payload = payload;
    this.k = readK(payload, Kind.BLOOM);
    this.bits = 8L * (payload.size - 1);
  }

  static int readK(Payload payload, Kind kind) throws MalformedException {
    Payload.refuseOutside(payload.size, 2, PAYLOAD_BYTES_MAX, "payload_bytes", kind);
    int k = payload.u8(0);
    Payload.refuseOutside(k, 1, K_MAX, "k", kind);
    return k;
  }

  @Override
  boolean mightContain(int fingerprint) {
    long g = Fingerprints.hash(fingerprint);
    for (int i = 0; i < k; ++i) {
      long bit = Payload.range(g >>> 32, bits);
      if ((payload.u8(1 + (int) (bit >>> 3)) >>> (bit & 7) & 1) == 0) {
        return false;
      }
      g *= MULTIPLIER;
    }
    return true;
  }
}
