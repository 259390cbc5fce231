package io.seen.client;

import java.nio.ByteBuffer;
import java.util.List;

/** One kind of filter over its payload. Immutable, any thread; a look-up allocates nothing. */
abstract class Filter {
  static final int EVERY_DAY = Integer.MIN_VALUE;
  static final long EVERY_SECOND = 0;

  /** False: certainly not in. True: in, or one of the false positives. */
  abstract boolean mightContain(int fingerprint);

  /**
   * Without the days before {@code firstDay} (since 1970-01-01) and those that ended before {@code createdSecond}
   * (since 1970), where the kind can tell.
   */
  boolean mightContain(int fingerprint, int firstDay, long createdSecond) {
    return mightContain(fingerprint);
  }

  List<IndexedEntry> entries(int fingerprint) {
    return List.of();
  }

  static Filter read(Kind kind, ByteBuffer bytes) throws MalformedException {
    Payload payload = new Payload(bytes);
    switch (kind) {
      case SPLIT_BLOCK_BLOOM:
        return new SplitBlockBloom(payload);
      case BLOOM:
        return new Bloom(payload);
      case COUNTING_BLOOM:
        return new CountingBloom(payload);
      case D_LEFT:
        return new DLeft(payload);
      case QUOTIENT:
        return new Quotient(payload);
      case CUCKOO:
        return new Cuckoo(payload);
      case INDEXED_CUCKOO:
        return new IndexedCuckoo(payload);
      case BINARY_FUSE_8:
      case BINARY_FUSE_16:
        return new BinaryFuse(kind, payload);
      case DAY_CHAIN:
        return new DayChain(payload);
      case FINGERPRINTS:
        return new FingerprintSet(payload);
      default:
        throw new AssertionError(kind);
    }
  }
}
