package io.seen.client;

/** Kind 1: Parquet's split-block Bloom filter. Source: Parquet format, BloomFilter.md; Putze, Sanders, Singler 2007. */
final class SplitBlockBloom extends Filter {
  static final int BLOCK_BYTES = 32;
  private static final int[] SALT = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31
  };

  private final Payload payload;
  private final long blocks;

  SplitBlockBloom(Payload payload) throws MalformedException {
    if (payload.size == 0 || payload.size % BLOCK_BYTES != 0) {
      throw Payload.malformed(
          Kind.SPLIT_BLOCK_BLOOM,
          "payload_bytes " + payload.size + "; blocks of 32 bytes, at least one, are allowed");
    }
    this.payload = payload;
    this.blocks = payload.size / BLOCK_BYTES;
  }

  @Override
  boolean mightContain(int fingerprint) {
    return mightContain(payload, 0, blocks, Fingerprints.hash(fingerprint));
  }

  /** Of the filter of {@code blocks} blocks that starts at byte {@code from}. */
  static boolean mightContain(Payload payload, int from, long blocks, long h) {
    int block = from + (int) Payload.range(h >>> 32, blocks) * BLOCK_BYTES;
    int low = (int) h;
    for (int i = 0; i < SALT.length; ++i) {
      if ((payload.i32(block + 4 * i) >>> ((low * SALT[i]) >>> 27) & 1) == 0) {
        return false;
      }
    }
    return true;
  }
}
