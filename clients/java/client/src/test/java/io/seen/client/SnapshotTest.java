package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SnapshotTest {

  private static byte[] good(String... ids) {
    int[] prints = Arrays.stream(ids).mapToInt(Fingerprints::of).toArray();
    return Envelopes.of(Kind.SPLIT_BLOCK_BLOOM, prints);
  }

  /** Each breaks one rule and all that are checked after it; the message must be of the first. */
  static Stream<Arguments> firstWrong() {
    List<Arguments> steps = List.of(
        Arguments.of("SEEN", change(b -> b.put(0, (byte) 'Z'))),
        Arguments.of("version 2", change(b -> b.put(4, (byte) 2))),
        Arguments.of("header_bytes 60", change(b -> b.putInt(8, 60))),
        Arguments.of("bytes; its header says", change(b -> b.putInt(48, -1))),
        Arguments.of("checksum", change(b -> {})), // below, when all else is as it will be
        Arguments.of("format 12", change(b -> b.put(5, (byte) 12))),
        Arguments.of("hash 2", change(b -> b.put(6, (byte) 2))),
        Arguments.of("flags 128", change(b -> b.put(7, (byte) 128))),
        Arguments.of("false_positive_rate NaN", change(b -> b.putDouble(40, Double.NaN))),
        Arguments.of("d_left: r 0", change(b -> b.put(5, (byte) 4))));
    return steps.stream().map(step -> Arguments.of(step.get()[0], steps.subList(steps.indexOf(step), steps.size())));
  }

  private static Consumer<ByteBuffer> change(Consumer<ByteBuffer> change) {
    return change;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("firstWrong")
  @SuppressWarnings("unchecked")
  void theFirstThatIsWrongIsNamed(String expected, List<Arguments> steps) {
    byte[] bytes = good();
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = steps.size() - 1; i >= 0; --i) {
      ((Consumer<ByteBuffer>) steps.get(i).get()[1]).accept(buffer);
    }
    Envelopes.signed(bytes);
    if (steps.stream().anyMatch(step -> step.get()[0].equals("checksum"))) {
      bytes[52] ^= 1;
    }
    RefusedException refusal = assertThrows(RefusedException.class, () -> Snapshot.parse(bytes));
    assertTrue(refusal.getMessage().contains(expected), refusal.getMessage());
  }

  @Test
  void unknownVersionsAndKindsAskForAnUpdate() {
    byte[] bytes = Envelopes.around(12, new byte[32], 0);
    RefusedException refusal = assertThrows(UnknownFormatException.class, () -> Snapshot.parse(bytes));
    assertEquals("snapshot: format 12; this reader knows 1 to 11: update seen-client", refusal.getMessage());
    assertThrows(UnknownFormatException.class, () -> Snapshot.parse(Envelopes.around(0, new byte[32], 0)));
  }

  @Test
  void ratesOutsideTheirRangeAreRefused() throws Exception {
    for (double rate : new double[] {0, -0.0, -0.01, 0.5000001, Double.POSITIVE_INFINITY, Double.NaN}) {
      assertThrows(MalformedException.class, () -> Snapshot.parse(withRate(rate)), Double.toString(rate));
    }
    assertEquals(0.5, Snapshot.parse(withRate(0.5)).falsePositiveRate());
    assertEquals(Double.MIN_VALUE, Snapshot.parse(withRate(Double.MIN_VALUE)).falsePositiveRate());
  }

  private static byte[] withRate(double rate) {
    byte[] bytes = good();
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putDouble(40, rate);
    return Envelopes.signed(bytes);
  }

  @Test
  void integersAreTheirDecimalStrings() throws Exception {
    long[] ids = {0, 1, -1, 42, -7, 9, 10, 1L << 53 | 1, Long.MAX_VALUE, Long.MIN_VALUE};
    for (long id : ids) {
      assertEquals(Fingerprints.of(Long.toString(id)), Fingerprints.of(id));
    }
    Snapshot snapshot = Snapshot.parse(good("42"));
    assertTrue(snapshot.mightContain(42));
    assertTrue(snapshot.mightContain("42"));
    assertTrue(snapshot.mightContain(new byte[] {'4', '2'}));
    assertFalse(snapshot.mightContain("042"));
    assertTrue(snapshot.alsoSeen(List.of("43")).mightContain(43));
    assertTrue(snapshot.alsoSeen(List.of("43")).mightContain(42));
    assertFalse(snapshot.alsoSeen(List.of("43")).mightContain(44));
  }

  @Test
  void unseenKeepsTheOrderAndAnswersEachOnce() throws Exception {
    Snapshot snapshot = Snapshot.parse(good("shown"));
    List<String> asked = List.of("b", "a", "shown", "b", "c", "other");
    assertEquals(List.of("b", "a", "other"), snapshot.alsoSeen(List.of("c")).unseen(asked));
    assertEquals(List.of("b", "a", "c", "other"), snapshot.unseen(asked));
    assertEquals(List.of("b", "a", "c", "other"), Snapshot.empty().alsoSeen(List.of("shown")).unseen(asked));
    List<Long> numbers = List.of(5L, 3L, 5L);
    assertEquals(List.of(5L, 3L), snapshot.unseen(numbers, n -> Long.toString(n)));
  }

  @Test
  void moreIsRecalledForAUserWhoSawMore() throws Exception {
    Snapshot one = Snapshot.parse(good("n1"));
    assertEquals(0, one.recallSize(0));
    assertEquals(1 + 2, one.recallSize(1)); // ceil((1 + 3 * 0.1) / 0.99) = 2
    assertEquals(1 + 105, one.recallSize(100)); // ceil((100 + 3) / 0.99) = 105
    assertEquals(1 + 105 + 2, one.alsoSeen(List.of("n1", "n2", "n3", "n3")).recallSize(100));
    assertEquals(0, one.alsoSeen(List.of("n2")).recallSize(0));
    assertEquals(100, Snapshot.empty().recallSize(100));
    assertEquals(Integer.MAX_VALUE, Snapshot.empty().recallSize(Integer.MAX_VALUE));
    assertEquals(0, one.recallSize(-1));
    assertEquals(0, one.alsoSeen(List.of("n2")).recallSize(-1));
  }

  @Test
  void anEmptyOneHoldsNothing() {
    assertFalse(Snapshot.empty().mightContain("n1"));
    assertEquals(0, Snapshot.empty().itemCount());
    assertEquals(Instant.EPOCH, Snapshot.empty().asOf());
    assertEquals(-1, Snapshot.empty().partition());
    assertEquals(4, Snapshot.empty(4).partition());
  }

  @Test
  void aTombstoneIsNotNoBytes() {
    RefusedException refusal = assertThrows(MalformedException.class, () -> Snapshot.parse(new byte[0]));
    assertEquals("snapshot: no bytes; a tombstone is a null value", refusal.getMessage());
  }
}
