package io.seen.examples;

import io.seen.client.Snapshot;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The newest snapshots of the users used last, within bounds of users and bytes. Any thread. */
final class SnapshotCache {
  private static final int ENTRY_BYTES = 300; // about what the objects of an entry take besides

  private final int usersMax;
  private final long bytesMax;
  private final LinkedHashMap<String, Entry> entries = new LinkedHashMap<>(16, 0.75f, true); // last used last
  private long bytes;
  private boolean whole = true;

  SnapshotCache(int usersMax, long bytesMax) {
    this.usersMax = usersMax;
    this.bytesMax = bytesMax;
  }

  /** {@code size}: of the snapshot's bytes. */
  synchronized void put(String user, Snapshot snapshot, int size) {
    forget(user);
    entries.put(user, new Entry(snapshot, ENTRY_BYTES + 2L * user.length() + size));
    bytes += entries.get(user).bytes;
    Iterator<Map.Entry<String, Entry>> oldest = entries.entrySet().iterator();
    while (entries.size() > usersMax || bytes > bytesMax) {
      bytes -= oldest.next().getValue().bytes;
      oldest.remove();
      whole = false;
    }
  }

  /** For a tombstone: nothing seen. */
  synchronized void forget(String user) {
    Entry entry = entries.remove(user);
    bytes -= entry == null ? 0 : entry.bytes;
  }

  /** A user's snapshot couldn't be read. The one before it stays; without one, the user is unknown. */
  synchronized void refused(String user) {
    whole &= entries.containsKey(user);
  }

  /** Null: not here. It means that nothing was seen only while the cache is whole. */
  synchronized Snapshot get(String user) {
    Entry entry = entries.get(user);
    return entry == null ? null : entry.snapshot;
  }

  /** Nobody has been left out yet. */
  synchronized boolean isWhole() {
    return whole;
  }

  private static final class Entry {
    final Snapshot snapshot;
    final long bytes;

    Entry(Snapshot snapshot, long bytes) {
      this.snapshot = snapshot;
      this.bytes = bytes;
    }
  }
}
