package io.seen.client;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** Kind 7: the cuckoo filter whose entries are numbered, so that the oldest are evicted. Source: as {@link Cuckoo}. */
final class IndexedCuckoo extends Filter {
  private static final int FIELDS_BYTES = 16;
  private static final int DAY_BYTES = 8;
  private static final int BUCKET_ENTRIES = Cuckoo.BUCKET_ENTRIES;

  private final Payload payload;
  private final int entryBits;
  private final int numberBits;
  private final long buckets;
  private final long next;
  private final long capacity;
  private final int days;

  IndexedCuckoo(Payload payload) throws MalformedException {
    payload.refuseBelow(FIELDS_BYTES, Kind.INDEXED_CUCKOO);
    this.payload = payload;
    this.entryBits = payload.u8(0);
    this.numberBits = payload.u8(1);
    this.buckets = payload.u32(2);
    this.next = payload.u32(6);
    this.capacity = payload.u32(10);
    this.days = payload.u16(14);
    Payload.refuseOutside(entryBits, 2, 32, "f", Kind.INDEXED_CUCKOO);
    Payload.refuseOutside(numberBits, 1, 32, "n", Kind.INDEXED_CUCKOO);
    Payload.refuseOutside(buckets, 1, 0xFFFFFFFFL, "buckets", Kind.INDEXED_CUCKOO);
    Payload.refuseOutside(capacity, 0, 1L << numberBits, "capacity", Kind.INDEXED_CUCKOO);
    long bits = BUCKET_ENTRIES * buckets * (entryBits + numberBits);
    payload.refuseUnlessSize(entriesAt() + (bits + 7) / 8, Kind.INDEXED_CUCKOO);
  }

  private long entriesAt() {
    return FIELDS_BYTES + (long) DAY_BYTES * days;
  }

  @Override
  boolean mightContain(int fingerprint) {
    return search(fingerprint, null);
  }

  @Override
  List<IndexedEntry> entries(int fingerprint) {
    List<IndexedEntry> found = new ArrayList<>(1);
    search(fingerprint, found);
    return found;
  }

  /** With {@code found} null it stops at the first that counts. */
  private boolean search(int fingerprint, List<IndexedEntry> found) {
    long h = Fingerprints.hash(fingerprint);
    long entry = Cuckoo.entry(h, entryBits);
    long first = Cuckoo.first(h, buckets);
    long second = Cuckoo.other(entry, first, buckets);
    boolean any = search(first, entry, found);
    if (any && found == null || second == first) {
      return any;
    }
    return search(second, entry, found) || any;
  }

  private boolean search(long bucket, long entry, List<IndexedEntry> found) {
    boolean any = false;
    long at = 8 * entriesAt() + bucket * BUCKET_ENTRIES * (entryBits + numberBits);
    for (int i = 0; i < BUCKET_ENTRIES; ++i, at += entryBits + numberBits) {
      if (payload.bits(at, entryBits) != entry) {
        continue;
      }
      long number = payload.bits(at + entryBits, numberBits);
      long age = (next - 1 - number) & ((1L << numberBits) - 1);
      if (age >= capacity) {
        continue;
      }
      if (found == null) {
        return true;
      }
      any = true;
      found.add(details(age));
    }
    return any;
  }

  private IndexedEntry details(long age) {
    long number = (next - 1 - age) & 0xFFFFFFFFL;
    for (int i = days - 1; i >= 0; --i) {
      int row = FIELDS_BYTES + DAY_BYTES * i;
      long firstAge = (next - 1 - payload.u32(row + 4)) & 0xFFFFFFFFL;
      if (firstAge >= age) {
        return new IndexedEntry(number, LocalDate.ofEpochDay(payload.i32(row)), firstAge - age);
      }
    }
    return new IndexedEntry(number, null, 0);
  }
}
