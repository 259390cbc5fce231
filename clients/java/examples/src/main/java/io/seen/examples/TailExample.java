package io.seen.examples;

import io.seen.client.FilterReader;
import io.seen.client.Partitioner;
import io.seen.client.SeenItems;
import io.seen.client.Snapshot;
import io.seen.client.Watermarks;
import io.seen.examples.Request.Answer;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Holds the snapshots of the users used last, or with updates those of all users, and answers from them while they are
 * fresh. What it doesn't hold, and what is too old, it asks seend over HTTP; where that fails, too, an old snapshot is
 * better than none, and the request's own list better than an error.
 */
final class TailExample {
  static final String USAGE = Request.USAGE
      + "\n  --brokers       127.0.0.1:9092          Kafka"
      + "\n  --snapshots     seen-filters            the topic of snapshots"
      + "\n  --watermarks    seen-watermarks         the topic of watermarks"
      + "\n  --updates       none                    the topic of updates, if the filter publishes them"
      + "\n  --additions-max 10000000                of them held; --users-max and --mib-max then have no effect"
      + "\n  --partitioner   murmur2                 how users map to partitions: murmur2, crc32 or fnv1a"
      + "\n  --users-max     100000                  users held"
      + "\n  --mib-max       256                     and their bytes"
      + "\n  --stale-ms      5000                    a snapshot that is older isn't answered from"
      + "\n  --http          http://127.0.0.1:8080   seend's address, or several with commas"
      + "\n  --filter        default                 which of its filters"
      + "\n  --timeout-ms    50                      how long a request waits for it";

  private final SnapshotCache cache;
  private final Watermarks watermarks;
  private final TopicTail tail;
  private final Partitioner partitioner;
  private final Duration staleMax;
  private final SeenHttp http;

  private TailExample(Flags flags) {
    cache = new SnapshotCache(flags.number("--users-max"), flags.number("--mib-max") * 1024L * 1024);
    watermarks = new Watermarks();
    partitioner = Partitioner.valueOf(flags.text("--partitioner").toUpperCase(Locale.ROOT));
    staleMax = Duration.ofMillis(flags.number("--stale-ms"));
    Duration timeout = Duration.ofMillis(flags.number("--timeout-ms"));
    http = new SeenHttp(flags.text("--http"), flags.text("--filter"), timeout);
    tail = new TopicTail(flags, cache, watermarks).start();
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    TailExample example = new TailExample(new Flags(USAGE, arguments));
    try {
      Request.answerAll(example::unseen);
    } finally {
      example.tail.close();
      example.http.close();
    }
  }

  private Answer unseen(Request request) {
    if (tail.reader() != null) {
      return unseen(request, tail.reader());
    }
    Snapshot snapshot = find(request.user);
    if (snapshot != null && watermarks.staleBy(snapshot, Instant.now()).compareTo(staleMax) <= 0) {
      return new Answer("snapshot", by(snapshot, snapshot::mightBeNear, request));
    }
    Snapshot known = snapshot == null ? Snapshot.empty() : snapshot;
    return unseen(request, () -> new Answer(
        snapshot == null ? "own list" : "old snapshot", by(known, known::mightBeNear, request)));
  }

  private Answer unseen(Request request, FilterReader reader) {
    boolean wasFresh = isFresh(reader, request.user);
    SeenItems items = reader.itemsOf(request.user);
    List<String> unseen = by(items, id -> reader.mightBeNear(request.user, id), request);
    // Asked before the items and after them: the reader may have become fresh since, or have started over before.
    if (wasFresh && isFresh(reader, request.user)) {
      return new Answer("snapshot", unseen);
    }
    return unseen(request, () -> new Answer("old snapshot", unseen));
  }

  private boolean isFresh(FilterReader reader, String user) {
    OptionalLong asOf = reader.asOf(partitioner.partition(user, tail.partitions()));
    return asOf.isPresent() && System.currentTimeMillis() - asOf.getAsLong() <= staleMax.toMillis()
        && !reader.isRefused(user);
  }

  private Answer unseen(Request request, Supplier<Answer> withoutHttp) {
    try {
      return new Answer("http", http.unseen(request.user, request.items, request.alsoSeen).items);
    } catch (IOException away) {
      System.err.println("decided without the newest: " + away); // count these: users may see items twice
      return withoutHttp.get();
    }
  }

  private static List<String> by(SeenItems seen, Predicate<String> isNear, Request request) {
    List<String> unseen = seen.alsoSeen(request.alsoSeen).unseen(request.items);
    unseen.sort(Comparator.comparing(isNear::test)); // like something seen: last
    return unseen;
  }

  /** Null: not known here. A user who isn't in a topic that is held whole has seen nothing. */
  private Snapshot find(String user) {
    boolean everybodyIsHere = tail.isLoaded() && cache.isWhole(); // asked first: the user may be put out meanwhile
    Snapshot snapshot = cache.get(user);
    if (snapshot == null && everybodyIsHere && cache.isWhole()) {
      return Snapshot.empty(partitioner.partition(user, tail.partitions()));
    }
    return snapshot;
  }
}
