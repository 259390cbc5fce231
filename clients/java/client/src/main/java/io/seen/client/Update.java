package io.seen.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What is new since the snapshots: a value of the topic of updates, after schemas/update.md. Read in place: the bytes
 * aren't copied, and must not be changed while the update is in use. Immutable, any thread. {@link FilterReader} takes
 * updates as bytes; this class shows what is in one.
 */
public final class Update {
  private static final int MAGIC = 0x55454553; // "SEEU"
  private static final int VERSION = 1;
  private static final int BYTES_MIN = 56;
  private static final int HEADER_BYTES_MAX = 8192;
  private static final int CHECKSUM_AT = 8;
  private static final int FILTERS_MAX = 16;
  private static final int NAMES_AT = 49;

  private final int partition;
  private final int part;
  private final long generation;
  private final long from;
  private final long to;
  private final long asOfMs;
  private final List<String> filters;
  private final List<Section> sections;

  private Update(Payload all, int headerBytes) throws RefusedException {
    part = all.u8(5);
    partition = all.i32(12);
    generation = all.u64(16);
    from = all.u64(24);
    to = all.u64(32);
    asOfMs = all.u64(40);
    int filterCount = all.u8(48);
    refuseOutside("partition", partition, 0, Integer.MAX_VALUE);
    refuseOutside("generation", generation, 1, Long.MAX_VALUE);
    refuseOutside("from", from, 0, Long.MAX_VALUE);
    refuseOutside("to", to, from, Long.MAX_VALUE);
    refuseOutside("as_of_ms", asOfMs, -1, Long.MAX_VALUE);
    refuseOutside("filter_count", filterCount, 1, FILTERS_MAX);
    filters = namesOf(all, headerBytes, filterCount);
    List<Section> read = new ArrayList<>();
    for (int at = headerBytes; at < all.size; at = read.get(read.size() - 1).end) {
      read.add(new Section(all, at, filterCount));
    }
    sections = List.copyOf(read);
  }

  /**
   * Checks the bytes and reads them where they are.
   *
   * @throws UnknownFormatException if a newer program wrote them, in a way that this library doesn't know: update it
   * @throws MalformedException if they are damaged, or no update
   */
  public static Update parse(byte[] bytes) throws RefusedException {
    return parse(ByteBuffer.wrap(bytes));
  }

  /** As with an array: the bytes from the position to the limit, neither of which moves. */
  public static Update parse(ByteBuffer bytes) throws RefusedException {
    ByteBuffer all = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    int size = all.limit();
    if (size < 4 || all.getInt(0) != MAGIC) {
      throw malformed(size == 0 ? "no bytes" : "does not start with \"SEEU\"");
    }
    if (size < BYTES_MIN) {
      throw malformed("cut off: " + size + " bytes; the header alone has " + BYTES_MIN);
    }
    int version = all.get(4) & 0xFF;
    if (version != VERSION) {
      throw new UnknownFormatException("update: version " + version + "; this reader knows " + VERSION);
    }
    int headerBytes = all.getShort(6) & 0xFFFF;
    refuseOutside("header_bytes", headerBytes, BYTES_MIN, HEADER_BYTES_MAX);
    if (size < headerBytes) {
      throw malformed("header_bytes " + headerBytes + "; the record has " + size + " bytes");
    }
    if (all.getInt(CHECKSUM_AT) != Header.checksum(all, CHECKSUM_AT)) {
      throw malformed("the checksum does not match: damaged on the way");
    }
    return new Update(new Payload(all), headerBytes);
  }

  private static List<String> namesOf(Payload all, int headerBytes, int count) throws MalformedException {
    List<String> names = new ArrayList<>(count);
    Set<ByteBuffer> different = new HashSet<>();
    int at = NAMES_AT;
    for (int i = 0; i < count; ++i) {
      int length = at < headerBytes ? all.u8(at) : 0;
      if (length == 0 || length > headerBytes - at - 1) {
        throw malformed("name " + i + " of " + count + " is empty, or doesn't end within header_bytes " + headerBytes);
      }
      byte[] name = all.bytes(at + 1, length);
      names.add(new String(name, StandardCharsets.UTF_8));
      if (!different.add(ByteBuffer.wrap(name))) {
        throw malformed("name " + names.get(i) + " comes twice");
      }
      at += 1 + length;
    }
    return List.copyOf(names);
  }

  private static void refuseOutside(String field, long value, long min, long max) throws MalformedException {
    if (value < min || value > max) {
      throw malformed(field + " " + value + "; " + min + " to " + max + " is allowed");
    }
  }

  private static MalformedException malformed(String what) {
    return new MalformedException("update: " + what);
  }

  /** The input partition. */
  public int partition() {
    return partition;
  }

  /** Of the partition's state: offsets are comparable within one generation only. */
  public long generation() {
    return generation;
  }

  /** The first offset of the input partition that the update covers. */
  public long from() {
    return from;
  }

  /** How many records before this one hold parts of the event at {@link #from()}; as a rule 0. */
  public int part() {
    return part;
  }

  /** Whether the event at {@link #from()} goes on in the next record. */
  boolean isPart() {
    return from == to && !sections.isEmpty();
  }

  /** The first offset behind those that the update covers. */
  public long to() {
    return to;
  }

  /**
   * Who has everything below {@link #to} has all that the input partition held at this time, in ms since 1970 by the
   * daemon's clock; -1 where that isn't known.
   */
  public long asOfMs() {
    return asOfMs;
  }

  /** The filters that the update is about. It says nothing of others. */
  public List<String> filters() {
    return filters;
  }

  /** The additions. */
  public List<Section> sections() {
    return sections;
  }

  @Override
  public String toString() {
    return "update of partition " + partition + ", generation " + generation + ", [" + from + ", " + to + ")";
  }

  /** Additions that count alike: in the same filters, as the same kind, until the same second. */
  public static final class Section {
    /** The kind of additions that are fingerprints of items. */
    public static final int SEEN = 0;

    /** The kind of additions that are fingerprints of near items and groups. */
    public static final int SIMILAR = 1;

    private static final int FIELDS_BYTES = 16;

    final int end;
    private final Payload all;
    private final int mask;
    private final int kind;
    private final long untilSecond;
    private final int entries;
    private final int items;
    private final int usersAt;
    private final int countsAt;
    private final int fingerprintsAt;

    private Section(Payload all, int at, int filterCount) throws RefusedException {
      this.all = all;
      int left = all.size - at;
      if (left < FIELDS_BYTES) {
        throw malformed("section at " + at + ": cut off");
      }
      mask = all.u16(at);
      kind = all.u8(at + 2);
      untilSecond = all.u32(at + 4);
      long users = all.u32(at + 8);
      long fingerprints = all.u32(at + 12);
      if (mask == 0 || mask >>> filterCount != 0) {
        throw malformed("section at " + at + ": mask " + mask + " of " + filterCount + " filters");
      }
      if (kind != SEEN && kind != SIMILAR) {
        throw new UnknownFormatException("update: section at " + at + ": kind " + kind + "; this reader knows 0 and 1");
      }
      long bytes = FIELDS_BYTES + 10 * users + 4 * fingerprints;
      if (users == 0 || fingerprints == 0 || bytes > left) {
        throw malformed("section at " + at + ": " + users + " users with " + fingerprints
            + " items, each 1 or more, in " + left + " bytes");
      }
      entries = (int) users;
      items = (int) fingerprints;
      usersAt = at + FIELDS_BYTES;
      countsAt = usersAt + Long.BYTES * entries;
      fingerprintsAt = countsAt + Short.BYTES * entries;
      end = at + (int) bytes;
      long sum = 0;
      for (int i = 0; i < entries; ++i) {
        if (count(i) == 0) {
          throw malformed("section at " + at + ": user " + i + " has no items");
        }
        sum += count(i);
      }
      if (sum != fingerprints) {
        throw malformed("section at " + at + ": its users have " + sum + " items; it has " + fingerprints);
      }
    }

    /** Bit i: the additions count in the i-th of {@link Update#filters}. */
    public int mask() {
      return mask;
    }

    /** {@link #SEEN} or {@link #SIMILAR}. */
    public int kind() {
      return kind;
    }

    /** The additions count before this second since 1970, by the reader's clock; 0: without end. */
    public long untilSecond() {
      return untilSecond;
    }

    /** How many entries there are. A user may have several. */
    public int entries() {
      return entries;
    }

    /** How many fingerprints the entries have together. */
    public int items() {
      return items;
    }

    /** XXH64, seed 0, of the id of the i-th entry's user. */
    public long user(int i) {
      return all.u64(usersAt + Long.BYTES * i);
    }

    /** How many of the fingerprints are the i-th entry's: those behind the ones of the entries before it. */
    public int count(int i) {
      return all.u16(countsAt + Short.BYTES * i);
    }

    /** The j-th fingerprint. */
    public int fingerprint(int j) {
      return all.i32(fingerprintsAt + Integer.BYTES * j);
    }
  }
}
