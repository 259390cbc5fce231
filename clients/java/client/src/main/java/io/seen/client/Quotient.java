package io.seen.client;

/**
 * Kind 5: the quotient filter, by rank and select. Source: Pandey, Bender, Johnson, Patro 2017, section 4; Bender et
 * al. 2012.
 */
final class Quotient extends Filter {
  private static final int FIELDS_BYTES = 9;
  private static final int BLOCK_SLOTS = 64;
  private static final int OCCUPIED_AT = 2; // of a block; before it the offset
  private static final int RUN_ENDS_AT = 10;
  private static final int REMAINDERS_AT = 18;
  private static final long SLOTS_MAX = (1L << 32) - 64;

  private final Payload payload;
  private final int remainderBits;
  private final long quotients;
  private final long slots;
  private final long blocks;
  private final int blockBytes;

  Quotient(Payload payload) throws MalformedException {
    payload.refuseBelow(FIELDS_BYTES, Kind.QUOTIENT);
    this.payload = payload;
    this.remainderBits = payload.u8(0);
    this.quotients = payload.u32(1);
    this.slots = payload.u32(5);
    Payload.refuseOutside(remainderBits, 1, 32, "r", Kind.QUOTIENT);
    Payload.refuseOutside(quotients, 1, SLOTS_MAX, "quotients", Kind.QUOTIENT);
    Payload.refuseOutside(slots, quotients, SLOTS_MAX, "slots", Kind.QUOTIENT);
    this.blocks = (slots + BLOCK_SLOTS - 1) / BLOCK_SLOTS;
    this.blockBytes = REMAINDERS_AT + 8 * remainderBits;
    long lastSlots = slots - (blocks - 1) * BLOCK_SLOTS;
    long lastBytes = REMAINDERS_AT + (lastSlots * remainderBits + 7) / 8;
    payload.refuseUnlessSize(FIELDS_BYTES + (blocks - 1) * blockBytes + lastBytes, Kind.QUOTIENT);
    refuseWrongRuns();
  }

  private int block(long number) {
    return FIELDS_BYTES + (int) number * blockBytes;
  }

  private long occupied(long block) {
    return payload.u64(block(block) + OCCUPIED_AT);
  }

  private long runEnds(long block) {
    return payload.u64(block(block) + RUN_ENDS_AT);
  }

  /** Walks the occupied quotients and the ends of their runs side by side. */
  private void refuseWrongRuns() throws MalformedException {
    long end = -1; // of the last run walked
    long endBlock = 0;
    long ends = runEnds(0); // of endBlock, behind `end`
    for (long b = 0; b < blocks; ++b) {
      long expected = Math.max(0, end + 1 - b * BLOCK_SLOTS);
      if (payload.u16(block(b)) != expected) {
        throw Payload.malformed(Kind.QUOTIENT, "offset of block " + b + "; by its bits it is " + expected);
      }
      for (long bits = occupied(b); bits != 0; bits &= bits - 1) {
        long quotient = b * BLOCK_SLOTS + Long.numberOfTrailingZeros(bits);
        while (ends == 0 && ++endBlock < blocks) {
          ends = runEnds(endBlock);
        }
        if (quotient >= quotients || ends == 0) {
          throw Payload.malformed(Kind.QUOTIENT, "quotient " + quotient + " is beyond the end, or has no run");
        }
        end = endBlock * BLOCK_SLOTS + Long.numberOfTrailingZeros(ends);
        ends &= ends - 1;
        if (end >= slots || end < quotient) {
          throw Payload.malformed(Kind.QUOTIENT, "the run of quotient " + quotient + " ends at slot " + end);
        }
      }
    }
    while (ends == 0 && ++endBlock < blocks) {
      ends = runEnds(endBlock);
    }
    if (ends != 0) {
      throw Payload.malformed(Kind.QUOTIENT, "more runs end than there are quotients occupied");
    }
  }

  @Override
  boolean mightContain(int fingerprint) {
    long y = (Fingerprints.hash(fingerprint) >>> 32) * quotients;
    long quotient = y >>> 32;
    long remainder = (y & 0xFFFFFFFFL) >>> (32 - remainderBits);
    long block = quotient / BLOCK_SLOTS;
    long upTo = occupied(block) & ((2L << (quotient % BLOCK_SLOTS)) - 1);
    if ((occupied(block) >>> (quotient % BLOCK_SLOTS) & 1) == 0) {
      return false;
    }
    for (long slot = runEnd(block, Long.bitCount(upTo)); slot >= quotient; ) {
      if (remainder(slot) == remainder) {
        return true;
      }
      --slot;
      if (slot < 0 || (runEnds(slot / BLOCK_SLOTS) >>> (slot % BLOCK_SLOTS) & 1) != 0) {
        return false;
      }
    }
    return false;
  }

  /** The {@code nth} run end, from 1 on, at or after the first slot that runs of the block's own quotients may take. */
  private long runEnd(long block, int nth) {
    long from = block * BLOCK_SLOTS + payload.u16(block(block));
    long word = from / BLOCK_SLOTS;
    long ends = runEnds(word) & (-1L << (from % BLOCK_SLOTS));
    int left = nth;
    for (int count = Long.bitCount(ends); count < left; count = Long.bitCount(ends)) {
      left -= count;
      ends = runEnds(++word);
    }
    for (; left > 1; --left) {
      ends &= ends - 1;
    }
    return word * BLOCK_SLOTS + Long.numberOfTrailingZeros(ends);
  }

  private long remainder(long slot) {
    long first = 8L * (block(slot / BLOCK_SLOTS) + REMAINDERS_AT);
    return payload.bits(first + slot % BLOCK_SLOTS * remainderBits, remainderBits);
  }
}
