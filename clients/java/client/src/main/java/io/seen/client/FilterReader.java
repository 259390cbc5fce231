package io.seen.client;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Follows one filter that publishes updates: "seen" if a user's snapshot or an addition says so. It knows since when
 * its answers may miss something: {@link #asOf()}. The rules are those of schemas/update.md. Feed it the records of the
 * three topics, each partition in its order; the topics may come in any order among each other. One thread feeds it,
 * any thread asks it.
 */
public final class FilterReader {
  private static final int USER_BYTES = 200; // about what the objects of a user take besides the snapshot's bytes
  private static final long ADDITIONS_MAX = 1_000_000_000; // an int numbers them
  private static final int COLLECTED_AT_ONCE = 16_384; // additions; a few milliseconds at most
  private static final long NONE = -1;

  private final String filter;
  private final long additionsMax;
  private final String topic; // null: not told
  private final LongSupplier nowMs;
  private final ReadWriteLock lock = new ReentrantReadWriteLock(); // for all that follows
  private final Additions additions = new Additions();
  private final Map<Integer, FollowedPartition> partitions = new TreeMap<>();
  private final Map<String, Held> snapshots = new HashMap<>();
  private long snapshotBytes;
  private long records;

  /** {@code additionsMax}: how many additions it holds at most, up to a billion; 16 bytes each, and 40 a user. */
  public FilterReader(String filter, Collection<Integer> partitions, long additionsMax) {
    this(filter, partitions, additionsMax, null);
  }

  /** {@code topic}: that of the snapshots it is fed with, so that it notices when the filter has {@link #movedTo}. */
  public FilterReader(String filter, Collection<Integer> partitions, long additionsMax, String topic) {
    this(filter, partitions, additionsMax, topic, System::currentTimeMillis);
  }

  /** {@code topic}: null if it isn't told. With another clock, in ms since 1970, by which additions end. */
  public FilterReader(
      String filter, Collection<Integer> partitions, long additionsMax, String topic, LongSupplier nowMs) {
    this.filter = filter;
    this.additionsMax = Math.min(additionsMax, ADDITIONS_MAX);
    this.topic = topic;
    this.nowMs = nowMs;
    for (int partition : partitions) {
      this.partitions.put(partition, new FollowedPartition(partition, additions));
    }
  }

  /**
   * A record of the topic of watermarks. Those of other partitions change nothing.
   *
   * @throws RefusedException if it must be refused; it changes nothing
   */
  public void takeBeat(byte[] key, byte[] value) throws RefusedException {
    int number = Watermarks.partitionOf(key);
    Watermark beat = value == null ? null : Watermarks.parse(number, value).forUpdates();
    FollowedPartition partition = partitions.get(number);
    if (partition != null) {
      change(() -> partition.takeBeat(beat, filter, topic));
    }
  }

  /**
   * A value of the topic of updates. Those of other partitions and filters change nothing.
   *
   * @throws RefusedException if it must be refused; it changes nothing, so what it covers is missing
   */
  public void takeUpdate(byte[] value) throws RefusedException {
    if (value == null) {
      throw new MalformedException("update: null; there are no tombstones");
    }
    Update update = Update.parse(value);
    FollowedPartition partition = partitions.get(update.partition());
    int bit = update.filters().indexOf(filter);
    if (partition != null && bit >= 0) {
      change(() -> {
        partition.takeUpdate(update, bit, ++records);
        while (additions.size() > additionsMax) {
          dropOldest();
        }
        additions.collect(additions.size() + additions.garbageSize() - additionsMax);
      });
    }
  }

  private void dropOldest() {
    Generation oldest = null;
    for (FollowedPartition partition : partitions.values()) {
      for (Generation generation : partition.generations) {
        Additions.Block first = generation.queue.first();
        if (first != null && (oldest == null || first.record < oldest.queue.first().record)) {
          oldest = generation;
        }
      }
    }
    oldest.lose(oldest.queue.first());
    additions.dropFirst(oldest);
  }

  /**
   * A record of the topic of snapshots, from this partition of it; null is a tombstone.
   *
   * @throws RefusedException if it must be refused. Until the next one, what the one before says counts, and the user
   *     {@link #isRefused}
   */
  public void takeSnapshot(int partition, String user, byte[] value) throws RefusedException {
    followed(partition);
    if (value == null) {
      change(() -> forget(partition, user));
      return;
    }
    try {
      Snapshot snapshot = Snapshot.parseWithUpdates(value);
      change(() -> keep(user, new Held(partition, snapshot, false, 2L * user.length() + value.length)));
    } catch (RefusedException refused) {
      change(() -> {
        Held before = forget(partition, user);
        Snapshot kept = before == null ? null : before.snapshot;
        keep(user, new Held(partition, kept, true, before == null ? 2L * user.length() : before.bytes));
      });
      throw refused;
    }
  }

  private void keep(String user, Held held) {
    forget(held.partition, user);
    held.next = snapshots.get(user);
    snapshots.put(user, held);
    snapshotBytes += USER_BYTES + held.bytes;
  }

  private Held forget(int partition, String user) {
    Held before = null;
    Held others = null; // a user has one partition, as a rule
    for (Held one = snapshots.remove(user); one != null; ) {
      Held next = one.next;
      if (one.partition == partition) {
        before = one;
        snapshotBytes -= USER_BYTES + one.bytes;
      } else {
        one.next = others;
        others = one;
      }
      one = next;
    }
    if (others != null) {
      snapshots.put(user, others);
    }
    return before;
  }

  /** The reader stands at the end of this partition of the snapshots, by the brokers' answer: at this position. */
  public void snapshotsEnd(int partition, long position) {
    if (position < 0) {
      throw new IllegalArgumentException("position " + position + " of partition " + partition);
    }
    change(() -> followed(partition).standsAt(position));
  }

  /**
   * The reader starts over in this partition of the snapshots, from its beginning: call it before the first
   * {@link #takeSnapshot}. The partition isn't fresh until {@link #snapshotsEnd}.
   */
  public void snapshotsRestart(int partition) {
    change(() -> followed(partition).startOver());
  }

  /**
   * This partition of the snapshots was created again, or lost its end: go to its beginning, and call
   * {@link #snapshotsRestart}. The reader doesn't settle meanwhile. Ask after each beat.
   */
  public boolean mustRestart(int partition) {
    return read(() -> followed(partition).mustRestart());
  }

  /**
   * The operator has changed the filter's topic of snapshots to this one: begin with a new reader there. This one
   * doesn't settle meanwhile. Empty: it hasn't moved, or the reader isn't told which topic it reads.
   */
  public Optional<String> movedTo(int partition) {
    return Optional.ofNullable(read(() -> followed(partition).movedTo()));
  }

  /** May the user have seen this item? An integer id is its decimal string. */
  public boolean mightContain(String user, String item) {
    int fingerprint = Fingerprints.of(item);
    return ask(user, Update.Section.SEEN, fingerprint, snapshot -> snapshot.mightContainFingerprint(fingerprint));
  }

  /** May the user have seen an item like this one? */
  public boolean mightBeNear(String user, String item) {
    int fingerprint = Fingerprints.of(item);
    int near = Fingerprints.inDomain(fingerprint, Fingerprints.NEAR);
    return ask(user, Update.Section.SIMILAR, near, snapshot -> snapshot.mightBeNearFingerprint(fingerprint));
  }

  /** May the user have seen an item of this group? By the group's id. */
  public boolean mightHoldGroup(String user, String group) {
    int fingerprint = Fingerprints.of(group);
    int inDomain = Fingerprints.inDomain(fingerprint, Fingerprints.GROUP);
    return ask(user, Update.Section.SIMILAR, inDomain, snapshot -> snapshot.mightHoldGroupFingerprint(fingerprint));
  }

  private boolean ask(String user, int kind, int fingerprint, Predicate<Snapshot> asksSnapshot) {
    return read(() -> {
      Held held = snapshots.get(user);
      for (Held one = held; one != null; one = one.next) {
        if (one.snapshot != null && asksSnapshot.test(one.snapshot)) {
          return true;
        }
      }
      long nowSecond = nowSecond();
      for (int at = additions.first(hash(user)); at != Additions.NONE; at = additions.next(at)) {
        if (additions.fingerprint(at) == fingerprint && counts(additions.block(at), kind, held, nowSecond)) {
          return true;
        }
      }
      return false;
    });
  }

  private static boolean counts(Additions.Block block, int kind, Held held, long nowSecond) {
    if (block.isDropped() || block.kind != kind || block.untilSecond != 0 && block.untilSecond <= nowSecond) {
      return false;
    }
    for (Held one = held; one != null; one = one.next) {
      if (one.snapshot != null && one.snapshot.generation() == block.generation.number
          && one.snapshot.partition() == block.generation.partition && one.snapshot.inputOffset() >= block.to) {
        return false; // what the snapshot doesn't hold of it was taken back
      }
    }
    return true;
  }

  private long nowSecond() {
    return Math.floorDiv(nowMs.getAsLong(), 1000);
  }

  private static long hash(String user) {
    byte[] utf8 = user.getBytes(StandardCharsets.UTF_8);
    return Fingerprints.XXH64.hashBytesToLong(utf8, 0, utf8.length);
  }

  /** What the user may have seen, as of now: later records don't change it. For many questions about one user. */
  public SeenItems itemsOf(String user) {
    return read(() -> {
      Held held = snapshots.get(user);
      List<Snapshot> ofUser = new ArrayList<>(1);
      for (Held one = held; one != null; one = one.next) {
        if (one.snapshot != null) {
          ofUser.add(one.snapshot);
        }
      }
      long nowSecond = nowSecond();
      IntStream.Builder counted = IntStream.builder();
      for (int at = additions.first(hash(user)); at != Additions.NONE; at = additions.next(at)) {
        if (counts(additions.block(at), Update.Section.SEEN, held, nowSecond)) {
          counted.add(additions.fingerprint(at));
        }
      }
      return new UserItems(ofUser, counted.build().sorted().distinct().toArray());
    });
  }

  /** The ids that are unseen, in their order and each once. {@code alsoSeen}: ids that count as seen besides. */
  public List<String> unseen(String user, List<String> candidates, Collection<String> alsoSeen) {
    return itemsOf(user).alsoSeen(alsoSeen).unseen(candidates);
  }

  /**
   * The answers of this partition know all that its input held then, in ms since 1970 by the daemon's clock. Empty:
   * they may miss anything.
   */
  public OptionalLong asOf(int partition) {
    return known(() -> followed(partition).asOfMs());
  }

  /** The same of all partitions: of the oldest. A user who {@link #isRefused} isn't fresh, whatever this says. */
  public OptionalLong asOf() {
    return known(() -> partitions.values().stream().mapToLong(FollowedPartition::asOfMs).min().orElse(NONE));
  }

  /** The reader knows each live event of the partition's input below this offset. Empty: that isn't known. */
  public OptionalLong completeTo(int partition) {
    return known(() -> followed(partition).completeTo());
  }

  /**
   * What was shown before this time, in ms since 1970, may be missing, however fresh the answers of this partition are.
   * Empty: the newest beat names no such time.
   */
  public OptionalLong completeSinceMs(int partition) {
    return known(() -> followed(partition).completeSinceMs());
  }

  /** The same of all partitions: the latest. */
  public OptionalLong completeSinceMs() {
    return known(() -> partitions.values().stream().mapToLong(FollowedPartition::completeSinceMs).max().orElse(NONE));
  }

  /** Whether the user's newest snapshot was refused. The user isn't fresh until the next one. */
  public boolean isRefused(String user) {
    return read(() -> {
      boolean isRefused = false;
      for (Held one = snapshots.get(user); one != null; one = one.next) {
        isRefused |= one.isRefused;
      }
      return isRefused;
    });
  }

  /** How many additions are held. The same one counts as often as it came. */
  public long additions() {
    return read(additions::size);
  }

  /** What the additions take, and about what the snapshots do. */
  public long memoryBytes() {
    return read(() -> additions.memoryBytes() + snapshotBytes);
  }

  private OptionalLong known(Supplier<Long> value) {
    long known = read(value);
    return known == NONE ? OptionalLong.empty() : OptionalLong.of(known);
  }

  private FollowedPartition followed(int partition) {
    FollowedPartition followed = partitions.get(partition);
    if (followed == null) {
      throw new IllegalArgumentException("partition " + partition + " isn't followed, but " + partitions.keySet());
    }
    return followed;
  }

  private void change(Runnable change) {
    lock.writeLock().lock();
    try {
      change.run();
      additions.collect(COLLECTED_AT_ONCE);
    } finally {
      lock.writeLock().unlock();
    }
  }

  private <T> T read(Supplier<T> question) {
    lock.readLock().lock();
    try {
      return question.get();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** What a partition of the snapshots says of a user. */
  private static final class Held {
    final int partition;
    final Snapshot snapshot; // null: there is none that could be read
    final boolean isRefused;
    final long bytes;
    Held next; // of another partition, as a rule null

    Held(int partition, Snapshot snapshot, boolean isRefused, long bytes) {
      this.partition = partition;
      this.snapshot = snapshot;
      this.isRefused = isRefused;
      this.bytes = bytes;
    }
  }

  /** A user's snapshots and the fingerprints of the additions that count. */
  private static final class UserItems implements SeenItems {
    private final List<Snapshot> snapshots;
    private final int[] added; // ascending

    UserItems(List<Snapshot> snapshots, int[] added) {
      this.snapshots = snapshots;
      this.added = added;
    }

    private boolean isAdded(int fingerprint) {
      return Arrays.binarySearch(added, fingerprint) >= 0;
    }

    @Override
    public boolean mightContain(String id) {
      return mightContain(id, null);
    }

    @Override
    public boolean mightContain(long id) {
      return mightContain(Long.toString(id));
    }

    @Override
    public boolean mightContain(String id, Instant createdAt) {
      int fingerprint = Fingerprints.of(id);
      long createdSecond = createdAt == null ? Filter.EVERY_SECOND : createdAt.getEpochSecond();
      for (Snapshot snapshot : snapshots) {
        if (snapshot.mightContainFingerprint(fingerprint, createdSecond)) {
          return true;
        }
      }
      return isAdded(fingerprint);
    }

    @Override
    public long recallSize(int want) {
      if (want <= 0) {
        return 0;
      }
      long size = snapshots.isEmpty() ? want : 0;
      for (Snapshot snapshot : snapshots) {
        size += snapshot.recallSize(want);
      }
      for (int fingerprint : added) {
        size += snapshots.stream().anyMatch(snapshot -> snapshot.mightContainFingerprint(fingerprint)) ? 0 : 1;
      }
      return size;
    }
  }
}
