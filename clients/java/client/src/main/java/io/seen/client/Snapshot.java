package io.seen.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;

/**
 * A user's seen items as seend publishes them: a value of the snapshot topic, or the answer of {@code GET
 * /v1/filters/{filter}/users/{user}}. Read in place: the bytes aren't copied, and must not be changed while the
 * snapshot is in use. Immutable, any thread. A look-up allocates nothing but the id's UTF-8 bytes.
 */
public final class Snapshot implements SeenItems {
  private static final int NO_PARTITION = -1;

  private final Kind kind;
  private final Filter filter;
  private final long itemCount;
  private final long asOfMs;
  private final int horizonDay;
  private final int partition;
  private final long inputOffset;
  private final double falsePositiveRate;
  private final int firstDay; // days before it are left out
  private final Filter similar; // null: nothing is said of it
  private final Kind similarKind;
  private final long similarCount;
  private final long generation; // 0: of a filter without updates

  private Snapshot(Header header, Filter filter, Filter similar) {
    this.kind = header.kind;
    this.filter = filter;
    this.itemCount = header.itemCount;
    this.asOfMs = header.asOfMs;
    this.horizonDay = header.horizonDay;
    this.partition = header.partition;
    this.inputOffset = header.inputOffset;
    this.falsePositiveRate = header.falsePositiveRate;
    this.firstDay = Filter.EVERY_DAY;
    this.similar = similar;
    this.similarKind = header.similarKind;
    this.similarCount = header.similarCount;
    this.generation = header.generation;
  }

  private Snapshot(Snapshot other, int firstDay) {
    this.kind = other.kind;
    this.filter = other.filter;
    this.itemCount = other.itemCount;
    this.asOfMs = other.asOfMs;
    this.horizonDay = other.horizonDay;
    this.partition = other.partition;
    this.inputOffset = other.inputOffset;
    this.falsePositiveRate = other.falsePositiveRate;
    this.firstDay = firstDay;
    this.similar = other.similar;
    this.similarKind = other.similarKind;
    this.similarCount = other.similarCount;
    this.generation = other.generation;
  }

  private Snapshot(int partition) {
    this.kind = Kind.FINGERPRINTS;
    this.filter = FingerprintSet.EMPTY;
    this.itemCount = 0;
    this.asOfMs = 0;
    this.horizonDay = 0;
    this.partition = partition;
    this.inputOffset = 0;
    this.falsePositiveRate = 0;
    this.firstDay = Filter.EVERY_DAY;
    this.similar = null;
    this.similarKind = null;
    this.similarCount = 0;
    this.generation = 0;
  }

  /**
   * Checks the bytes and reads them where they are. It costs a pass over them for the checksum, well under a
   * microsecond a kilobyte.
   *
   * @throws UnknownFormatException if they are of a version or kind this library doesn't know: update it. Also if the
   *     filter publishes updates: its snapshots are late by themselves, so {@link FilterReader} reads them
   * @throws MalformedException if they are damaged, or no snapshot. A refused snapshot must never be taken for an empty
   *     one: keep the one before it, or treat the user as unknown
   */
  public static Snapshot parse(byte[] bytes) throws RefusedException {
    return parse(ByteBuffer.wrap(bytes));
  }

  /** As with an array: the bytes from the position to the limit, neither of which moves. */
  public static Snapshot parse(ByteBuffer bytes) throws RefusedException {
    return parse(bytes, false);
  }

  /** For one who reads the filter's updates as well. */
  static Snapshot parseWithUpdates(byte[] bytes) throws RefusedException {
    return parse(ByteBuffer.wrap(bytes), true);
  }

  private static Snapshot parse(ByteBuffer bytes, boolean readsUpdates) throws RefusedException {
    ByteBuffer all = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
    Header header = new Header(all, readsUpdates);
    int similarAt = all.limit() - header.similarBytes;
    Filter filter = Filter.read(header.kind, part(all, header.bytes, similarAt));
    if (header.similarKind == null) {
      return new Snapshot(header, filter, null);
    }
    try {
      return new Snapshot(header, filter, Filter.read(header.similarKind, part(all, similarAt, all.limit())));
    } catch (MalformedException refused) {
      throw new MalformedException("what is similar: " + refused.getMessage());
    }
  }

  private static ByteBuffer part(ByteBuffer all, int from, int to) {
    ByteBuffer part = all.duplicate();
    part.position(from).limit(to);
    return part.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Nothing seen: for a user whose key has a null value (a tombstone), or never had a record in a topic that was read
   * to its end. Its rate is 0, its partition -1, its times the epoch.
   */
  public static Snapshot empty() {
    return new Snapshot(NO_PARTITION);
  }

  /** Nothing seen by a user of this input partition, so that {@link Watermarks} can say how fresh that is. */
  public static Snapshot empty(int partition) {
    return new Snapshot(partition);
  }

  /**
   * The same without the days before {@code firstDay} (UTC), where the filter is kept by day ({@link
   * Kind#DAY_CHAIN}): a snapshot doesn't age by itself, so one of a quiet user may hold items that have left the window
   * since. The window's first day is today in UTC minus the filter's {@code window_days}. Of other kinds it changes
   * nothing.
   */
  public Snapshot withoutDaysBefore(LocalDate firstDay) {
    long day = Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, firstDay.toEpochDay()));
    return new Snapshot(this, (int) day);
  }

  @Override
  public boolean mightContain(String id) {
    return mightContainFingerprint(Fingerprints.of(id));
  }

  @Override
  public boolean mightContain(long id) {
    return mightContainFingerprint(Fingerprints.of(id));
  }

  /** May the user have seen the item with these bytes, UTF-8, as its id? Allocates nothing. */
  public boolean mightContain(byte[] utf8) {
    return mightContainFingerprint(Fingerprints.of(utf8));
  }

  @Override
  public boolean mightContain(String id, Instant createdAt) {
    return mightContainFingerprint(Fingerprints.of(id), createdAt == null ? 0 : createdAt.getEpochSecond());
  }

  /** The same of a {@linkplain Fingerprints fingerprint}. Allocates nothing. */
  public boolean mightContainFingerprint(int fingerprint) {
    return filter.mightContain(fingerprint, firstDay, Filter.EVERY_SECOND);
  }

  /** The same of an item created at {@code createdSecond} since 1970; 0 changes nothing. Allocates nothing. */
  public boolean mightContainFingerprint(int fingerprint, long createdSecond) {
    return filter.mightContain(fingerprint, firstDay, createdSecond);
  }

  /** {@link #mightContain(String)} with no day left out. */
  boolean holdsOnAnyDay(String id) {
    return filter.mightContain(Fingerprints.of(id));
  }

  /**
   * What a filter of kind {@link Kind#INDEXED_CUCKOO} says of the item besides: when it came. One of the entries is the
   * item's, if it was seen; others share its bits by chance. Empty if it wasn't seen, and for other kinds.
   */
  public List<IndexedEntry> entries(String id) {
    return filter.entries(Fingerprints.of(id));
  }

  /**
   * Whether the snapshot says what is like the items that were seen (the daemon's {@code filters[].similar}). Where it
   * doesn't, as an empty one, nothing is near and no group is held.
   */
  public boolean hasSimilar() {
    return similar != null;
  }

  /**
   * May an item like this one have been seen? An item that was seen itself need not be near another: ask {@link
   * #mightContain(String)} for that. Knows nothing of {@link #alsoSeen}.
   */
  public boolean mightBeNear(String id) {
    return mightBeNearFingerprint(Fingerprints.of(id));
  }

  /** The same of an integer id. */
  public boolean mightBeNear(long id) {
    return mightBeNearFingerprint(Fingerprints.of(id));
  }

  /** The same of the item's own {@linkplain Fingerprints fingerprint}. Allocates nothing. */
  public boolean mightBeNearFingerprint(int fingerprint) {
    return similar != null && similar.mightContain(Fingerprints.inDomain(fingerprint, Fingerprints.NEAR));
  }

  /** {@link #mightBeNear(String)} of each, in their order. */
  public boolean[] mightBeNear(List<String> ids) {
    boolean[] answers = new boolean[ids.size()];
    int at = 0;
    for (String id : ids) {
      answers[at++] = mightBeNear(id);
    }
    return answers;
  }

  /** May an item of this group have been seen? By the group's id, as the topic of groups has it. */
  public boolean mightHoldGroup(String groupId) {
    return mightHoldGroupFingerprint(Fingerprints.of(groupId));
  }

  /** The same of an integer id. */
  public boolean mightHoldGroup(long groupId) {
    return mightHoldGroupFingerprint(Fingerprints.of(groupId));
  }

  /** The same of the fingerprint of the group's id. Allocates nothing. */
  public boolean mightHoldGroupFingerprint(int fingerprint) {
    return similar != null && similar.mightContain(Fingerprints.inDomain(fingerprint, Fingerprints.GROUP));
  }

  /** {@link #mightHoldGroup(String)} of each, in their order. */
  public boolean[] mightHoldGroup(List<String> groupIds) {
    boolean[] answers = new boolean[groupIds.size()];
    int at = 0;
    for (String groupId : groupIds) {
      answers[at++] = mightHoldGroup(groupId);
    }
    return answers;
  }

  /** Which kind of filter says what is similar; null if none does. */
  public Kind similarKind() {
    return similarKind;
  }

  /** How many different fingerprints of near items and groups are in it. */
  public long similarCount() {
    return similarCount;
  }

  @Override
  public long recallSize(int want) {
    if (want <= 0) {
      return 0;
    }
    double p = falsePositiveRate;
    return itemCount + (long) Math.ceil((want + 3 * Math.sqrt(want * p)) / (1 - p));
  }

  /** Which kind of filter it is. */
  public Kind kind() {
    return kind;
  }

  /** How many different items are in; two that share a fingerprint count once. */
  public long itemCount() {
    return itemCount;
  }

  /**
   * The greatest Kafka timestamp that had been read of the input partition. Old where the stream has stopped, and also
   * where it is quiet: {@link Watermarks} tell which.
   */
  public Instant asOf() {
    return Instant.ofEpochMilli(asOfMs);
  }

  /** The first UTC day of the window when the snapshot was made. What has a window of its own may be older. */
  public LocalDate horizon() {
    return LocalDate.ofEpochDay(horizonDay);
  }

  /** The input partition; of {@link #empty()} -1. */
  public int partition() {
    return partition;
  }

  /** Every record of the input partition below this offset has been applied. */
  public long inputOffset() {
    return inputOffset;
  }

  /** Of {@link #inputOffset}; 0 if the filter publishes no updates. */
  long generation() {
    return generation;
  }

  /** The share of unseen items that are taken for seen, as configured: above 0, at most 0.5; of an empty one 0. */
  public double falsePositiveRate() {
    return falsePositiveRate;
  }

  @Override
  public String toString() {
    return "snapshot of " + itemCount + " items (" + kind.configurationName() + ", " + falsePositiveRate + ") as of "
        + asOf();
  }
}
