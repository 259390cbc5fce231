package io.seen.client;

import java.time.Instant;
import java.util.Collection;
import java.util.Set;

/** Ids that count as seen, laid over what a snapshot says. */
final class AlsoSeen implements SeenItems {
  private final SeenItems below;
  private final Set<String> ids;

  AlsoSeen(SeenItems below, Collection<String> ids) {
    this.below = below;
    this.ids = Set.copyOf(ids);
  }

  @Override
  public boolean mightContain(String id) {
    return ids.contains(id) || below.mightContain(id);
  }

  @Override
  public boolean mightContain(long id) {
    return below.mightContain(id) || ids.contains(Long.toString(id));
  }

  @Override
  public boolean mightContain(String id, Instant createdAt) {
    return ids.contains(id) || below.mightContain(id, createdAt);
  }

  @Override
  public long recallSize(int want) {
    if (want <= 0) {
      return 0;
    }
    return below.recallSize(want) + ids.stream().filter(id -> !holds(below, id)).count();
  }

  /** Whether the id is in on any day: what leaves days out leaves them in the count of items. */
  private static boolean holds(SeenItems items, String id) {
    if (items instanceof AlsoSeen) {
      AlsoSeen other = (AlsoSeen) items;
      return other.ids.contains(id) || holds(other.below, id);
    }
    return items instanceof Snapshot ? ((Snapshot) items).holdsOnAnyDay(id) : items.mightContain(id);
  }

  @Override
  public String toString() {
    return below + " and " + ids.size() + " ids more";
  }
}
