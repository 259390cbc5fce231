package io.seen.client;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

/**
 * What a user may have seen. "No" is certain; "yes" is wrong for a small, chosen share of the items that were not seen.
 * Immutable, any thread. Ids are strings of well-formed Unicode; an integer id is the same as its decimal string.
 */
public interface SeenItems {

  /** May the user have seen this item? */
  boolean mightContain(String id);

  /** May the user have seen this item? The same as with the decimal string. */
  boolean mightContain(long id);

  /**
   * May the user have seen this item, which was created at {@code createdAt}? Where the filter is kept by day ({@link
   * Kind#DAY_CHAIN}), the days that ended before are left out, which makes false positives of fresh items rarer. Give
   * the time the item could first be shown, or an earlier one. Null and the epoch change nothing.
   */
  boolean mightContain(String id, Instant createdAt);

  /**
   * How many candidates to recall so that, all but certainly, {@code want} are left when the seen ones are taken out:
   * it allows for all seen items being among them, and for three standard deviations of false positives. 0 where {@code
   * want} is 0 or less.
   */
  long recallSize(int want);

  /** These, and besides them ids that count as seen, such as those of the request's earlier pages. */
  default SeenItems alsoSeen(Collection<String> ids) {
    return new AlsoSeen(this, ids);
  }

  /** The ids that are certainly unseen, in their order and each once, as HTTP's {@code unseen} answers. */
  default List<String> unseen(List<String> ids) {
    return unseen(ids, Function.identity());
  }

  /** The candidates whose ids are certainly unseen, in their order; of equal ids the first. */
  default <T> List<T> unseen(List<T> candidates, Function<? super T, String> id) {
    List<T> unseen = new ArrayList<>(candidates.size());
    Set<String> given = new HashSet<>(2 * candidates.size());
    for (T candidate : candidates) {
      String text = Objects.requireNonNull(id.apply(candidate), "id");
      if (!mightContain(text) && given.add(text)) {
        unseen.add(candidate);
      }
    }
    return unseen;
  }

  /**
   * As the one without {@code createdAt}, with {@link #mightContain(String, Instant)}. Of equal ids the latest time
   * counts, wherever in the list it stands.
   *
   * @param createdAt a candidate's time of creation; null where it isn't known
   */
  default <T> List<T> unseen(
      List<T> candidates, Function<? super T, String> id, Function<? super T, Instant> createdAt) {
    Map<String, Instant> latest = new HashMap<>(2 * candidates.size());
    for (T candidate : candidates) {
      Instant time = createdAt.apply(candidate);
      if (time != null) {
        latest.merge(id.apply(candidate), time, (one, other) -> one.isAfter(other) ? one : other);
      }
    }
    List<T> unseen = new ArrayList<>(candidates.size());
    Set<String> given = new HashSet<>(2 * candidates.size());
    for (T candidate : candidates) {
      String text = Objects.requireNonNull(id.apply(candidate), "id");
      if (given.add(text) && !mightContain(text, latest.get(text))) {
        unseen.add(candidate);
      }
    }
    return unseen;
  }
}
