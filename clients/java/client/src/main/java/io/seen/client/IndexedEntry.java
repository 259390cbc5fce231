package io.seen.client;

import java.time.LocalDate;
import java.util.Optional;

/** What an entry of a filter of kind {@link Kind#INDEXED_CUCKOO} leads to. Immutable. */
public final class IndexedEntry {
  private final long number;
  private final LocalDate day;
  private final long rank;

  IndexedEntry(long number, LocalDate day, long rank) {
    this.number = number;
    this.day = day;
    this.rank = rank;
  }

  /** Its number in the order of insertion, modulo 2^32. */
  public long number() {
    return number;
  }

  /** The UTC day it counts for; empty if the snapshot doesn't say. */
  public Optional<LocalDate> day() {
    return Optional.ofNullable(day);
  }

  /** Its place among the items of its day by ascending fingerprint, from 0 on; 0 without a day. */
  public long rank() {
    return rank;
  }

  @Override
  public String toString() {
    return "number " + number + ", day " + (day == null ? "unknown" : day) + ", rank " + rank;
  }
}
