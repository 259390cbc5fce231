package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Random records, and after each the same answers as those of a model that follows the page word by word. Seeded. */
class FilterReaderModelTest {
  private static final int WORLDS = 200;
  private static final int STEPS = 150;
  private static final String[] USERS = {"u1", "u2", "u3", "u4"};
  private static final String[] ITEMS = {"n1", "n2", "n3", "n4", "n5"};

  private static final class Addition {
    String user;
    int kind;
    int print;
    long generation;
    int partition;
    long to;
    long until;
    int record;
    long asOfBefore;
  }

  private static final class Run {
    long from;
    long to;
    long asOf;
  }

  private static final class Taken {
    long generation;
    int partition;
    long inputOffset;
    Set<String> items = new HashSet<>();
  }

  private static final class Partition {
    Long current;
    Long published;
    long snapshotsTo;
    Long standsAt;
    Long beatLog;
    Long log;
    String movedTo;
    Long completeSince;
    final Map<Long, Long> complete = new HashMap<>();
    final Map<Long, Long> asOf = new HashMap<>();
    final Map<Long, Long> settled = new HashMap<>();
    final Map<Long, Run> run = new HashMap<>();
    final Map<Long, Long> partsOffset = new HashMap<>();
    final Map<Long, Integer> partsCount = new HashMap<>();
    final Map<Long, Long> next = new HashMap<>(); // of the daemon: where its last record ended,
    final Map<Long, Integer> part = new HashMap<>(); // and how many parts of the event there it has sent
    final Map<Long, Long> lostTo = new HashMap<>();
    final Map<Long, Long> lostAsOf = new HashMap<>();
    final Set<Long> past = new HashSet<>();
    final Set<Long> named = new HashSet<>();
    final Map<Long, Integer> beatsWithout = new HashMap<>();
    final Map<String, Taken> snapshots = new HashMap<>();
    final Set<String> refused = new HashSet<>();
  }

  private final Random random = new Random(40);
  private List<Addition> additions;
  private Partition[] partitions;
  private FilterReader reader;
  private long nowMs;
  private int max;
  private int records;
  private int fresh;
  private int lost;
  private int forgotten;
  private int mustRestart;
  private int moved;
  private int went; // as_of went back
  private String topic;

  private void drop(int partition, long generation, long to) {
    additions.removeIf(a -> a.partition == partition && a.generation == generation && a.to <= to);
  }

  private void forget(int p, long generation) {
    drop(p, generation, Long.MAX_VALUE);
    for (Map<Long, ?> map : List.of(partitions[p].complete, partitions[p].asOf, partitions[p].settled,
        partitions[p].run, partitions[p].partsOffset, partitions[p].partsCount, partitions[p].lostTo, partitions[p].lostAsOf)) {
      map.remove(generation);
    }
  }

  private void settle(int p) {
    Partition at = partitions[p];
    if (at.current == null || at.published == null || at.standsAt == null || at.standsAt < at.snapshotsTo) {
      return;
    }
    if (!Objects.equals(at.log, at.beatLog) || at.movedTo != null) {
      return;
    }
    long g = at.current;
    at.complete.merge(g, at.published, Math::max);
    at.settled.merge(g, at.published, Math::max);
    drop(p, g, at.published);
    if (at.lostTo.getOrDefault(g, Long.MAX_VALUE) <= at.published) {
      at.lostTo.remove(g);
      at.lostAsOf.remove(g);
    }
    at.past.forEach(old -> forget(p, old));
    Run run = at.run.get(g);
    if (run != null && run.from <= at.complete.get(g)) {
      if (run.to >= at.complete.get(g)) {
        takeAsOf(at, g, run.asOf);
      }
      at.complete.merge(g, run.to, Math::max);
      at.run.remove(g);
    }
  }

  private void takeAsOf(Partition at, long g, long asOf) {
    if (asOf != -1) {
      Long before = at.asOf.put(g, asOf);
      went += before != null && asOf < before ? 1 : 0;
    }
  }

  private static void restart(Partition at) {
    at.log = at.beatLog;
    at.standsAt = null;
    at.complete.forEach((g, complete) -> {
      Run run = new Run();
      run.from = at.settled.get(g);
      run.to = complete;
      run.asOf = at.asOf.getOrDefault(g, -1L);
      at.run.putIfAbsent(g, run);
    });
    for (Map<Long, ?> map : List.of(at.complete, at.asOf, at.settled, at.partsOffset, at.partsCount)) {
      map.clear();
    }
  }

  private void beat(int p) throws RefusedException {
    Partition at = partitions[p];
    byte[] key = Integer.toString(p).getBytes(StandardCharsets.UTF_8);
    boolean isTombstone = random.nextInt(30) == 0;
    Long generation = isTombstone || random.nextInt(10) == 0 ? null : Long.valueOf(1 + random.nextInt(14) / 6);
    generation = !isTombstone && random.nextInt(100) == 0 ? Long.valueOf(4) : generation;
    if (generation != null && at.current != null && random.nextInt(3) > 0) {
      generation = at.current;
    }
    Long published = random.nextInt(8) == 0 ? null : Long.valueOf(random.nextInt(60));
    Long snapshotsTo = random.nextInt(8) == 0 ? null : Long.valueOf(random.nextInt(10));
    Long log = random.nextInt(12) > 0 ? at.beatLog : Long.valueOf(random.nextInt(3));
    log = log != null && log == 0 && random.nextBoolean() ? null : log; // absent: 0
    String named = random.nextInt(3) == 0 ? null : random.nextInt(20) == 0 ? "filters-2" : "filters";
    Long since = random.nextBoolean() ? null : Long.valueOf(random.nextInt(100));
    if (isTombstone) {
      reader.takeBeat(key, null);
    } else {
      reader.takeBeat(key, FilterReaderTest.beatOf(p, (generation == null ? "" : ",'generation':" + generation)
          + (published == null ? "" : ",'published_to':" + published)
          + byFilter("snapshots_to", snapshotsTo) + byFilter("snapshots_log", log)
          + byFilter("snapshots_topic", named == null ? null : "'" + named + "'")
          + byFilter("complete_since_ms", since)));
    }
    if (generation != null) {
      at.beatLog = log == null ? 0 : log;
      at.log = at.log == null ? at.beatLog : at.log;
    }
    at.movedTo = generation == null || topic == null || named == null || named.equals(topic) ? null : named;
    at.completeSince = generation == null ? null : since;
    if (at.current != null && !at.current.equals(generation)) {
      at.past.add(at.current);
    }
    at.current = generation;
    at.past.remove(generation);
    at.published = generation == null || snapshotsTo == null ? null : published;
    at.snapshotsTo = snapshotsTo == null ? 0 : snapshotsTo;
    if (generation != null) {
      at.named.add(generation);
    }
    at.beatsWithout.replaceAll((g, beats) -> beats + 1);
    for (long g : List.copyOf(at.beatsWithout.keySet())) {
      if (!at.named.contains(g) && at.beatsWithout.get(g) >= 60) {
        forget(p, g);
        at.beatsWithout.remove(g);
        ++forgotten;
      }
    }
    settle(p);
  }

  private String byFilter(String name, Object value) {
    switch (random.nextInt(3)) {
      case 0:
        return value == null ? "" : ",'" + name + "':{'F':" + value + "}";
      case 1:
        return ",'" + name + "':{'F':" + value + "}"; // or null
      default:
        return ",'" + name + "':" + (value == null ? "{}" : "{'E':null,'F':" + value + "}");
    }
  }

  private void update(int p) throws RefusedException {
    Partition at = partitions[p];
    long g = 1 + random.nextInt(4);
    if (at.current != null && random.nextInt(4) > 0) {
      g = at.current;
    }
    long known = at.complete.getOrDefault(g, (long) random.nextInt(40));
    long from = Math.max(0, known + (random.nextInt(3) > 0 ? 0 : random.nextInt(20) - 10));
    from = random.nextInt(3) == 0 ? at.next.getOrDefault(g, from) : from;
    long to = random.nextInt(3) == 0 ? from : from + random.nextInt(8);
    int part = at.next.getOrDefault(g, -1L) == from ? at.part.get(g) : 0;
    part = random.nextInt(8) == 0 ? random.nextInt(4) : part;
    long asOf = random.nextInt(5) == 0 ? -1 : 1_000 + 10 * to + random.nextInt(30);
    Updates update = Updates.of(p, g, from, to).part(part).asOf(asOf).filters("E", "F");
    List<Addition> added = new ArrayList<>();
    ++records;
    int ofSections = random.nextInt(3);
    at.next.put(g, to);
    at.part.put(g, from == to && ofSections > 0 ? part + 1 : 0);
    if (random.nextInt(12) == 0) {
      return; // lost
    }
    for (int sections = ofSections; sections > 0; --sections) {
      int mask = 1 + random.nextInt(3);
      int kind = random.nextInt(3) == 0 ? 1 : 0;
      long until = random.nextInt(4) == 0 ? nowMs / 1000 + random.nextInt(5) : 0;
      String[] users = new String[1 + random.nextInt(3)];
      int[][] prints = new int[users.length][];
      for (int i = 0; i < users.length; ++i) {
        users[i] = USERS[random.nextInt(USERS.length)];
        prints[i] = new int[1 + random.nextInt(3)];
        for (int j = 0; j < prints[i].length; ++j) {
          prints[i][j] = Fingerprints.of(ITEMS[random.nextInt(ITEMS.length)]);
          prints[i][j] = kind == 0 ? prints[i][j] : Fingerprints.inDomain(prints[i][j], 1 + random.nextInt(2));
          Addition one = new Addition();
          one.user = users[i];
          one.kind = kind;
          one.print = prints[i][j];
          one.generation = g;
          one.partition = p;
          one.to = from == to ? to + 1 : to;
          one.until = until;
          one.record = records;
          one.asOfBefore = at.asOf.getOrDefault(g, -1L);
          if ((mask & 2) != 0) {
            added.add(one);
          }
        }
      }
      update.section(mask, kind, until, users, prints);
    }
    reader.takeUpdate(update.bytes());
    additions.addAll(added);
    at.beatsWithout.put(g, 0);
    boolean hasPartsBefore = part == 0
        || at.partsOffset.getOrDefault(g, -1L) == from && part == at.partsCount.get(g);
    if (hasPartsBefore && from == to && ofSections > 0) {
      at.partsOffset.put(g, from);
      at.partsCount.put(g, part + 1);
    }
    if (hasPartsBefore) {
      cover(at, g, from, to, asOf);
    } else if (to > from) {
      cover(at, g, from + 1, to, asOf);
    }
    settle(p);
    while (additions.size() > max) {
      Addition oldest = Collections.min(additions, (a, b) -> a.record - b.record);
      partitions[oldest.partition].lostTo.merge(oldest.generation, oldest.to, Math::max);
      partitions[oldest.partition].lostAsOf.merge(oldest.generation, oldest.asOfBefore, Math::min);
      additions.removeIf(a -> a.record == oldest.record);
      ++lost;
    }
  }

  private void cover(Partition at, long g, long from, long to, long asOf) {
    if (at.complete.containsKey(g) && from <= at.complete.get(g)) {
      if (to >= at.complete.get(g)) {
        at.complete.put(g, to);
        takeAsOf(at, g, asOf);
      }
      return;
    }
    Run run = at.run.get(g);
    if (run == null || from > run.to) {
      run = new Run();
      run.from = from;
      run.to = to;
      run.asOf = asOf;
      at.run.put(g, run);
    } else if (to >= run.from) {
      run.from = Math.min(from, run.from);
      run.asOf = asOf != -1 && to >= run.to ? asOf : run.asOf;
      run.to = Math.max(to, run.to);
    }
  }

  private void snapshot(int p) {
    String user = USERS[random.nextInt(USERS.length)];
    Partition at = partitions[p];
    int what = random.nextInt(8);
    Taken taken = new Taken();
    taken.generation = random.nextInt(4);
    taken.partition = what == 7 ? 1 - p : p;
    taken.inputOffset = random.nextInt(60);
    for (String item : ITEMS) {
      if (random.nextInt(3) == 0) {
        taken.items.add(item);
      }
    }
    byte[] bytes = FilterReaderTest.snapshotOf(
        taken.generation, taken.partition, taken.inputOffset, taken.items.toArray(new String[0]));
    boolean isRefused = false;
    try {
      reader.takeSnapshot(p, user, what == 0 ? null : what == 1 ? Arrays.copyOf(bytes, 60) : bytes);
    } catch (RefusedException refused) {
      isRefused = true;
    }
    assertEquals(what == 1, isRefused);
    if (what == 0) {
      at.snapshots.remove(user);
      at.refused.remove(user);
    } else if (what == 1) {
      at.refused.add(user);
    } else {
      at.refused.remove(user);
      at.snapshots.put(user, taken);
    }
  }

  private boolean counts(Addition a) {
    for (Partition at : partitions) {
      Taken taken = at.snapshots.get(a.user);
      if (taken != null && taken.generation == a.generation && taken.partition == a.partition
          && taken.inputOffset >= a.to) {
        return false;
      }
    }
    return a.until == 0 || nowMs < 1000 * a.until;
  }

  private static OptionalLong optional(Long value) {
    return value == null ? OptionalLong.empty() : OptionalLong.of(value);
  }

  private static Long latest(Long one, Long other) {
    return one == null ? other : other == null ? one : Long.valueOf(Math.max(one, other));
  }

  private void compare(String at) {
    assertEquals(additions.size(), reader.additions(), at);
    for (int p = 0; p < partitions.length; ++p) {
      Partition model = partitions[p];
      Long complete = model.complete.get(model.current);
      Long asOf = complete == null ? null : model.asOf.get(model.current);
      if (asOf != null && model.lostAsOf.containsKey(model.current)) {
        asOf = Math.min(asOf, model.lostAsOf.get(model.current));
      }
      assertEquals(complete == null ? OptionalLong.empty() : OptionalLong.of(complete), reader.completeTo(p), at);
      assertEquals(asOf == null || asOf < 0 ? OptionalLong.empty() : OptionalLong.of(asOf), reader.asOf(p), at);
      fresh += asOf == null ? 0 : 1;
      boolean must = !Objects.equals(model.log, model.beatLog);
      assertEquals(must, reader.mustRestart(p), at);
      assertEquals(Optional.ofNullable(model.movedTo), reader.movedTo(p), at);
      assertEquals(optional(model.completeSince), reader.completeSinceMs(p), at);
      mustRestart += must ? 1 : 0;
      moved += model.movedTo == null ? 0 : 1;
    }
    Long latest = latest(partitions[0].completeSince, partitions[1].completeSince);
    assertEquals(optional(latest), reader.completeSinceMs(), at);
    for (String user : USERS) {
      boolean isRefused = partitions[0].refused.contains(user) || partitions[1].refused.contains(user);
      assertEquals(isRefused, reader.isRefused(user), at);
      List<String> unseen = new ArrayList<>();
      for (String item : ITEMS) {
        int print = Fingerprints.of(item);
        int near = Fingerprints.inDomain(print, Fingerprints.NEAR);
        int group = Fingerprints.inDomain(print, Fingerprints.GROUP);
        boolean isSeen = false;
        boolean isNear = false;
        boolean isGroup = false;
        for (Partition model : partitions) {
          isSeen |= model.snapshots.containsKey(user) && model.snapshots.get(user).items.contains(item);
        }
        for (Addition a : additions) {
          boolean isCounted = a.user.equals(user) && counts(a);
          isSeen |= isCounted && a.kind == 0 && a.print == print;
          isNear |= isCounted && a.kind == 1 && a.print == near;
          isGroup |= isCounted && a.kind == 1 && a.print == group;
        }
        assertEquals(isSeen, reader.mightContain(user, item), at);
        assertEquals(isNear, reader.mightBeNear(user, item), at);
        assertEquals(isGroup, reader.mightHoldGroup(user, item), at);
        if (!isSeen) {
          unseen.add(item);
        }
      }
      assertEquals(unseen, reader.unseen(user, List.of(ITEMS), List.of()), at);
    }
  }

  @Test
  void theAnswersAreThoseOfTheModel() throws Exception {
    for (int world = 0; world < WORLDS; ++world) {
      additions = new ArrayList<>();
      partitions = new Partition[] {new Partition(), new Partition()};
      nowMs = 1_700_000_000_000L;
      max = random.nextInt(3) == 0 ? 5 + random.nextInt(40) : 100_000;
      boolean hasManyBeats = random.nextInt(3) == 0; // so that generations are forgotten
      topic = random.nextInt(4) == 0 ? null : "filters";
      reader = new FilterReader("F", List.of(0, 1), max, topic, () -> nowMs);
      for (int step = 0; step < STEPS; ++step) {
        int p = random.nextInt(2);
        int what = random.nextInt(hasManyBeats ? 80 : 20);
        if (what < 9) {
          update(p);
        } else if (what < 13) {
          snapshot(p);
        } else if (what == 13 || reader.mustRestart(p) && random.nextInt(3) == 0) {
          reader.snapshotsRestart(p);
          restart(partitions[p]);
        } else if (what < 16) {
          long position = random.nextInt(12);
          reader.snapshotsEnd(p, position);
          partitions[p].standsAt = position;
          settle(p);
        } else if (what == 16) {
          nowMs += random.nextInt(2_000);
        } else {
          for (int beats = hasManyBeats && random.nextInt(20) == 0 ? 60 : 1; beats > 0; --beats) {
            beat(p);
          }
        }
        compare("world " + world + ", step " + step);
      }
    }
    assertTrue(fresh > WORLDS * STEPS / 4 && lost > WORLDS, fresh + " fresh, " + lost + " lost: too tame");
    assertTrue(forgotten > WORLDS / 10, forgotten + " generations forgotten: too tame");
    assertTrue(mustRestart > WORLDS * STEPS / 20 && moved > WORLDS * STEPS / 100 && went > WORLDS / 2,
        mustRestart + " must restart, " + moved + " moved, " + went + " times less fresh: too tame");
  }
}
