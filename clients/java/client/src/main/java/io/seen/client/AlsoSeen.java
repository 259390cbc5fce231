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
      return below.recallSize(want);
    }
    return below.recallSize(want) + ids.stream().filter(id -> !below.mightContain(id)).count();
  }

  @Override
  public String toString() {
    return below + " and " + ids.size() + " ids more";
  }
}
