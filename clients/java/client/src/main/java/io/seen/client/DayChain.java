package io.seen.client;

/** Kind 10: a split-block Bloom filter for each day, newest first. */
final class DayChain extends Filter {
  private static final int DAYS_AT = 4;
  private static final int DAY_BYTES = 20;
  private static final int LAST_SECOND_AT = 12; // of a day
  private static final int BLOCKS_AT = 16;

  private final Payload payload;
  private final int days;

  DayChain(Payload payload) throws MalformedException {
    payload.refuseBelow(DAYS_AT, Kind.DAY_CHAIN);
    this.payload = payload;
    long count = payload.u32(0);
    long left = payload.size - DAYS_AT - count * DAY_BYTES; // for blocks
    if (left < 0) {
      throw Payload.malformed(Kind.DAY_CHAIN, "days " + count + "; payload_bytes " + payload.size + " hold fewer");
    }
    this.days = (int) count;
    for (int i = 0; i < days; ++i) {
      int row = row(i);
      if (i > 0 && payload.i32(row) > payload.i32(row - DAY_BYTES)) {
        throw Payload.malformed(Kind.DAY_CHAIN, "day " + payload.i32(row) + " follows an earlier one");
      }
      long blocks = payload.u32(row + BLOCKS_AT);
      left -= blocks * SplitBlockBloom.BLOCK_BYTES;
      if (blocks == 0 || left < 0) {
        throw Payload.malformed(Kind.DAY_CHAIN, "blocks " + blocks + " of day " + payload.i32(row));
      }
    }
    payload.refuseUnlessSize(payload.size - left, Kind.DAY_CHAIN);
  }

  private static int row(int day) {
    return DAYS_AT + DAY_BYTES * day;
  }

  @Override
  boolean mightContain(int fingerprint) {
    return mightContain(fingerprint, EVERY_DAY, EVERY_SECOND);
  }

  @Override
  boolean mightContain(int fingerprint, int firstDay, long createdSecond) {
    long h = Fingerprints.hash(fingerprint);
    int from = row(days);
    for (int i = 0; i < days; ++i) {
      int row = row(i);
      if (payload.i32(row) < firstDay) {
        return false; // the rest is older
      }
      int blocks = payload.i32(row + BLOCKS_AT);
      if (payload.u32(row + LAST_SECOND_AT) >= createdSecond
          && SplitBlockBloom.mightContain(payload, from, blocks, h)) {
        return true;
      }
      from += blocks * SplitBlockBloom.BLOCK_BYTES;
    }
    return false;
  }
}
