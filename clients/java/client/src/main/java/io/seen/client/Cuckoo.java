package io.seen.client;

/** Kind 6: the cuckoo filter. Source: Fan, Andersen, Kaminsky, Mitzenmacher 2014, algorithms 1 to 3. */
final class Cuckoo extends Filter {
  static final int BUCKET_ENTRIES = 4;
  private static final long MULTIPLIER = 0x9e3779b1L;
  private static final int FIELDS_BYTES = 5;

  private final Payload payload;
  private final int entryBits;
  private final long buckets;

  Cuckoo(Payload payload) throws MalformedException {
    payload.refuseBelow(FIELDS_BYTES, Kind.CUCKOO);
    this.payload = payload;
    this.entryBits = payload.u8(0);
    this.buckets = payload.u32(1);
    Payload.refuseOutside(entryBits, 2, 32, "f", Kind.CUCKOO);
    Payload.refuseOutside(buckets, 1, 0xFFFFFFFFL, "buckets", Kind.CUCKOO);
    payload.refuseUnlessSize(FIELDS_BYTES + (BUCKET_ENTRIES * buckets * entryBits + 7) / 8, Kind.CUCKOO);
  }

  static long entry(long h, int entryBits) {
    return Payload.range(h & 0xFFFFFFFFL, (1L << entryBits) - 1) + 1;
  }

  static long first(long h, long buckets) {
    return Payload.range(h >>> 32, buckets);
  }

  /** The other bucket of an entry that is in bucket {@code one}. */
  static long other(long entry, long one, long buckets) {
    return (Payload.range(entry * MULTIPLIER & 0xFFFFFFFFL, buckets) + buckets - one) % buckets;
  }

  @Override
  boolean mightContain(int fingerprint) {
    long h = Fingerprints.hash(fingerprint);
    long entry = entry(h, entryBits);
    long first = first(h, buckets);
    return isIn(first, entry) || isIn(other(entry, first, buckets), entry);
  }

  private boolean isIn(long bucket, long entry) {
    long at = 8 * FIELDS_BYTES + bucket * BUCKET_ENTRIES * entryBits;
    for (int i = 0; i < BUCKET_ENTRIES; ++i, at += entryBits) {
      if (payload.bits(at, entryBits) == entry) {
        return true;
      }
    }
    return false;
  }
}
