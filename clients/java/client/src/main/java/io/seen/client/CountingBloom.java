package io.seen.client;

/** Kind 3: the counting Bloom filter, counters of four bits. Source: Fan, Cao, Almeida, Broder 2000. */
final class CountingBloom extends Filter {
  private final Payload payload;
  private final int k;
  private final long counters;

  CountingBloom(Payload payload) throws MalformedException {
    this.payload = payload;
    this.k = Bloom.readK(payload, Kind.COUNTING_BLOOM);
    this.counters = 2L * (payload.size - 1);
  }

  @Override
  boolean mightContain(int fingerprint) {
    long g = Fingerprints.hash(fingerprint);
    for (int i = 0; i < k; ++i) {
      long counter = Payload.range(g >>> 32, counters);
      if ((payload.u8(1 + (int) (counter >>> 1)) >>> (4 * (counter & 1)) & 15) == 0) {
        return false;
      }
      g *= Bloom.MULTIPLIER;
    }
    return true;
  }
}
