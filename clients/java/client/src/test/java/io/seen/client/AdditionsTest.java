package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class AdditionsTest {
  private static final class Held {
    Generation generation;
    long user;
    int print;
    long record;
    long to;
  }

  private static List<Integer> of(Additions additions, long user) {
    List<Integer> prints = new ArrayList<>();
    for (int at = additions.first(user); at != Additions.NONE; at = additions.next(at)) {
      if (!additions.block(at).isDropped()) {
        prints.add(additions.fingerprint(at));
      }
    }
    return prints;
  }

  /** Users share places in the table, records exceed chunks, and the space is given back late. Seeded. */
  @Test
  void eachUserHasTheirAdditionsInTheOrderOfArrivalWhateverIsDroppedInBetween() throws Exception {
    Random random = new Random(9);
    for (int world = 0; world < 40; ++world) {
      Additions additions = new Additions();
      Generation[] generations = {new Generation(0, 1), new Generation(0, 2), new Generation(1, 1)};
      List<Held> model = new ArrayList<>();
      int large = random.nextInt(4) == 0 ? 700 : 1;
      for (int step = 1; step <= 200; ++step) {
        int what = random.nextInt(10);
        Generation generation = generations[random.nextInt(3)];
        if (what < 5) {
          long[] users = random.longs(1 + random.nextInt(5), 0, 60).map(user -> user << 20 | user % 7).toArray();
          int[][] prints = new int[users.length][];
          long to = random.nextInt(4) == 0 ? random.nextInt(200) : step;
          for (int i = 0; i < users.length; ++i) {
            prints[i] = random.ints(1 + random.nextInt(3 * large)).toArray();
            for (int print : prints[i]) {
              Held held = new Held();
              held.generation = generation;
              held.user = users[i];
              held.print = print;
              held.record = step;
              held.to = to;
              model.add(held);
            }
          }
          Update update = Update.parse(Updates.of(0, 1, 0, to).section(1, 0, 0, users, prints).bytes());
          additions.add(generation, update.sections().get(0), step, to);
        } else if (what < 7) {
          long to = random.nextInt(step);
          additions.dropTo(generation, to);
          model.removeIf(held -> held.generation == generation && held.to <= to);
        } else if (what == 7 && generation.queue.first() != null) {
          long record = generation.queue.first().record;
          additions.dropFirst(generation);
          model.removeIf(held -> held.generation == generation && held.record == record);
        } else if (what == 8 && random.nextInt(8) == 0) {
          additions.dropAll(generation);
          model.removeIf(held -> held.generation == generation);
        } else {
          additions.collect(random.nextInt(20) * large);
        }
        assertEquals(model.size(), additions.size());
        for (long user = 0; user < 60; ++user) {
          long hash = user << 20 | user % 7;
          List<Integer> expected = model.stream().filter(held -> held.user == hash)
              .map(held -> held.print).collect(Collectors.toList());
          assertEquals(expected, of(additions, hash), "world " + world + ", step " + step);
        }
      }
      for (Generation generation : generations) {
        additions.dropAll(generation);
      }
      additions.collect(Long.MAX_VALUE);
      assertEquals(0, additions.garbageSize());
      assertTrue(additions.memoryBytes() < 60_000, additions.memoryBytes() + " bytes of nothing");
    }
  }
}
