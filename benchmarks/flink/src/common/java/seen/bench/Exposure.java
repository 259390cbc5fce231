package seen.bench;

/**
 * One input record: a user was shown items. Mutable, to be used again; `items` holds hashes, `count` of
 * them.
 */
public final class Exposure {
  public String user;
  public long exposedAtMs;
  public int partition;
  public long offset;
  public int count;
  public long[] items = new long[16];

  public int day() {
    return (int) Math.floorDiv(exposedAtMs, 86_400_000L);
  }

  void add(long item) {
    if (count == items.length)
      items = java.util.Arrays.copyOf(items, 2 * count);
    items[count++] = item;
  }
}
