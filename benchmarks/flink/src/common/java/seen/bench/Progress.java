package seen.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What this process has read and applied, counted by the thread that does it, read by the one that prints
 * it.
 */
public final class Progress {
  private static final int EVENTS = 0;
  private static final int RECORDS = 1;
  private static final int PENDING = 2;
  private static final int OFFSETS = 3;
  private static final List<Progress> APPLIED = new ArrayList<>();
  private static final List<Progress> READ = new ArrayList<>();
  private static int partitions;
  private static volatile long[] startOffsets;

  private final AtomicLongArray values = new AtomicLongArray(OFFSETS + partitions);

  /** Before any instance. `offsets`: next offsets known from an earlier life, -1 where not. */
  public static void start(long[] offsets) {
    partitions = offsets.length;
    startOffsets = offsets;
  }

  public static Progress applying() {
    return registered(APPLIED);
  }

  public static Progress reading() {
    return registered(READ);
  }

  private static Progress registered(List<Progress> list) {
    synchronized (list) {
      Progress progress = new Progress();
      list.add(progress);
      return progress;
    }
  }

  /** One record done. Only by the thread this instance belongs to. */
  public void count(int events, int partition, long offset) {
    values.lazySet(EVENTS, values.getPlain(EVENTS) + events);
    values.lazySet(OFFSETS + partition, offset + 1);
    values.lazySet(RECORDS, values.getPlain(RECORDS) + 1);
  }

  /** A record that is not an event: passed over. */
  public void skip(int partition, long offset) {
    values.lazySet(OFFSETS + partition, offset + 1);
  }

  /** How many users wait to be published. */
  public void pending(int users) {
    values.lazySet(PENDING, users);
  }

  private static long sum(List<Progress> list, int index) {
    synchronized (list) {
      long sum = 0;
      for (Progress progress : list) sum += progress.values.get(index);
      return sum;
    }
  }

  private static long nextOffset(List<Progress> list, int partition) {
    synchronized (list) {
      long greatest = startOffsets[partition];
      for (Progress progress : list) {
        greatest = Math.max(greatest, progress.values.get(OFFSETS + partition));
      }
      return greatest;
    }
  }

  public static long events() {
    return sum(APPLIED, EVENTS);
  }

  /** All up to `ends` is read, what was read is applied, and nobody waits to be published. */
  public static boolean reached(long[] ends) {
    long[] next = offsets(READ.isEmpty() ? APPLIED : READ);
    for (int partition = 0; partition < partitions; partition++) {
      if (ends[partition] > 0 && next[partition] < ends[partition])
        return false;
    }
    return sum(APPLIED, RECORDS) >= sum(READ, RECORDS) && sum(APPLIED, PENDING) == 0;
  }

  private static long[] offsets(List<Progress> list) {
    long[] offsets = new long[partitions];
    for (int partition = 0; partition < partitions; partition++)
      offsets[partition] = nextOffset(list, partition);
    return offsets;
  }

  public static void print() {
    StringBuilder line = new StringBuilder("progress ").append(events());
    char before = ' ';
    for (long offset : offsets(APPLIED)) {
      line.append(before).append(offset);
      before = ',';
    }
    System.out.println(line);
  }

  /** Prints every 100 ms until `ends` (null: for ever) are reached, or `alive` says no. True: reached. */
  public static boolean printUntil(long[] ends, java.util.function.BooleanSupplier alive)
      throws InterruptedException {
    while (alive.getAsBoolean()) {
      boolean reached = ends != null && reached(ends);
      print();
      if (reached)
        return true;
      Thread.sleep(100);
    }
    return false;
  }
}
