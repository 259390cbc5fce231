package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What kinds 7 and 10 know of days. */
class DaysTest {
  private static final LocalDate TODAY = LocalDate.ofEpochDay(Payloads.DAY);
  private static final long TODAY_S = Payloads.DAY * 86_400L;

  /** "i0" on the newest day, "i1" the day before, ...: shown from second 100 to 200 of the day. */
  private static Snapshot fiveDays() throws RefusedException {
    int[] prints = {0, 1, 2, 3, 4};
    for (int i = 0; i < prints.length; ++i) {
      prints[i] = Fingerprints.of("i" + i);
    }
    return Snapshot.parse(Envelopes.around(10, Payloads.dayChain(prints, 5), 5));
  }

  @Test
  void daysThatEndedBeforeAnItemWasCreatedAreLeftOut() throws Exception {
    Snapshot snapshot = fiveDays();
    assertTrue(snapshot.mightContain("i0", Instant.ofEpochSecond(TODAY_S + 200)), "shown in that very second");
    assertTrue(snapshot.mightContain("i0", Instant.ofEpochMilli((TODAY_S + 200) * 1000 + 999)), "or later within it");
    assertFalse(snapshot.mightContain("i0", Instant.ofEpochSecond(TODAY_S + 201)));
    assertFalse(snapshot.mightContain("i1", Instant.ofEpochSecond(TODAY_S)));
    assertTrue(snapshot.mightContain("i1", Instant.ofEpochSecond(TODAY_S - 86_400)));
    assertTrue(snapshot.mightContain("i4", null));
    assertTrue(snapshot.mightContain("i4", Instant.EPOCH));
    assertTrue(snapshot.mightContain("i4", Instant.ofEpochSecond(-1)));
  }

  @Test
  void daysBeforeTheWindowAreLeftOut() throws Exception {
    Snapshot snapshot = fiveDays();
    Snapshot cut = snapshot.withoutDaysBefore(TODAY.minusDays(2));
    assertEquals(List.of("i3", "i4"), cut.unseen(List.of("i0", "i1", "i2", "i3", "i4")));
    assertEquals(List.of(), snapshot.unseen(List.of("i0", "i1", "i2", "i3", "i4")), "the first is as it was");
    assertTrue(snapshot.withoutDaysBefore(LocalDate.MIN).mightContain("i4"));
    assertFalse(snapshot.withoutDaysBefore(LocalDate.MAX).mightContain("i0"));
    assertEquals(snapshot.itemCount(), cut.itemCount());
  }

  @Test
  void ofEqualIdsTheLatestCreationCounts() throws Exception {
    Map<String, Instant> old = Map.of("a", Instant.ofEpochSecond(TODAY_S - 5 * 86_400L));
    Map<String, Instant> fresh = Map.of("a", Instant.ofEpochSecond(TODAY_S + 300));
    List<Map<String, Instant>> candidates = List.of(old, fresh, Map.of("b", Instant.EPOCH));
    List<Map<String, Instant>> unseen = fiveDays().alsoSeen(List.of("b")).unseen(
        candidates, one -> one.containsKey("a") ? "i0" : "b", one -> one.values().iterator().next());
    assertEquals(List.of(old), unseen);
  }

  @Test
  void otherKindsDontLookAtDays() throws Exception {
    Snapshot snapshot = Snapshot.parse(Envelopes.of(Kind.SPLIT_BLOCK_BLOOM, new int[] {Fingerprints.of("i0")}));
    assertTrue(snapshot.withoutDaysBefore(LocalDate.MAX).mightContain("i0", Instant.now()));
    assertEquals(List.of(), snapshot.entries("i0"));
  }

  @Test
  void anIndexedEntryLeadsToItsDayAndRank() throws Exception {
    int[] prints = Envelopes.prints(9, 3);
    prints[2] = Fingerprints.of("third");
    prints[8] = Fingerprints.of("last");
    Snapshot snapshot = Snapshot.parse(Envelopes.around(7, Payloads.cuckoo(prints, 20, 14, 4), 9));
    IndexedEntry third = snapshot.entries("third").get(0);
    assertEquals(2, third.number());
    assertEquals(Optional.of(TODAY), third.day());
    assertEquals(2, third.rank());
    IndexedEntry last = snapshot.entries("last").get(0);
    assertEquals(8, last.number());
    assertEquals(Optional.of(TODAY.plusDays(1)), last.day());
    assertEquals(0, last.rank());
    assertEquals(List.of(), snapshot.entries("other"));
  }

  @Test
  void entriesBeyondTheCapacityAreEvicted() throws Exception {
    int[] prints = Envelopes.prints(9, 4);
    byte[] payload = Payloads.cuckoo(prints, 20, 14, 4);
    ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN).putInt(10, 4);
    Snapshot snapshot = Snapshot.parse(Envelopes.around(7, payload, 4));
    for (int i = 0; i < prints.length; ++i) {
      assertEquals(i >= 5, snapshot.mightContainFingerprint(prints[i]), "item " + i);
    }
  }

  @Test
  void numbersWrapAround() throws Exception {
    int[] prints = Envelopes.prints(9, 4);
    byte[] payload = Payloads.cuckoo(prints, 20, 3, 4); // numbers 0 to 7, then 0 again
    ByteBuffer fields = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN).putInt(10, 8);
    Snapshot snapshot = Snapshot.parse(Envelopes.around(7, payload, 8));
    assertTrue(snapshot.mightContainFingerprint(prints[8]));
    fields.putInt(6, 0).putInt(20, -9).putInt(28, -1); // next, and the days' first numbers, 9 later than 2^32 - 9
    Snapshot wrapped = Snapshot.parse(Envelopes.around(7, payload, 8));
    assertTrue(wrapped.mightContainFingerprint(prints[7]));
  }
}
