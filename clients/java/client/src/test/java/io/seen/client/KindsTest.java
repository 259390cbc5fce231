package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class KindsTest {
  private static final int UNSEEN = 20_000;

  private static Snapshot snapshot(Kind kind, int[] prints) throws RefusedException {
    return Snapshot.parse(Envelopes.of(kind, prints));
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void whatIsInIsFoundAndLittleElse(Kind kind) throws Exception {
    for (int count : new int[] {1, 2, 10, 100, 3_000}) {
      int[] prints = Envelopes.prints(count, count);
      Snapshot snapshot = snapshot(kind, prints);
      assertEquals(kind, snapshot.kind());
      for (int print : prints) {
        assertTrue(snapshot.mightContainFingerprint(print), count + " items: " + print);
      }
      int[] others = Envelopes.prints(UNSEEN, 1_000_003);
      long yes = Arrays.stream(others).filter(snapshot::mightContainFingerprint).count();
      assertTrue(yes <= UNSEEN / 25, count + " items: " + yes + " false positives");
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void nothingIsInAnEmptyOne(Kind kind) throws Exception {
    Snapshot snapshot = snapshot(kind, new int[0]);
    int[] others = Envelopes.prints(UNSEEN, 5);
    assertEquals(0, Arrays.stream(others).filter(snapshot::mightContainFingerprint).count());
  }

  static Stream<Arguments> wrongPayloads() {
    return Stream.of(
        wrong(Kind.BLOOM, "one byte", p -> new byte[] {7}),
        wrong(Kind.BLOOM, "k 0", p -> p.put(0, (byte) 0)),
        wrong(Kind.BLOOM, "k 33", p -> p.put(0, (byte) 33)),
        wrong(Kind.COUNTING_BLOOM, "k 0", p -> p.put(0, (byte) 0)),
        wrong(Kind.COUNTING_BLOOM, "no byte", p -> new byte[0]),
        wrong(Kind.D_LEFT, "five bytes", p -> new byte[5]),
        wrong(Kind.D_LEFT, "r 0", p -> p.put(0, (byte) 0)),
        wrong(Kind.D_LEFT, "r 33", p -> p.put(0, (byte) 33)),
        wrong(Kind.D_LEFT, "cells 17", p -> p.put(1, (byte) 17)),
        wrong(Kind.D_LEFT, "buckets 0", p -> new byte[] {11, 8, 0, 0, 0, 0}),
        wrong(Kind.D_LEFT, "a byte too many", p -> longer(p)),
        wrong(Kind.QUOTIENT, "eight bytes", p -> new byte[8]),
        wrong(Kind.QUOTIENT, "r 0", p -> p.put(0, (byte) 0)),
        wrong(Kind.QUOTIENT, "quotients 0", p -> p.putInt(1, 0)),
        wrong(Kind.QUOTIENT, "fewer slots than quotients", p -> p.putInt(5, p.getInt(1) - 1)),
        wrong(Kind.QUOTIENT, "slots beyond the limit", p -> p.putInt(5, -1)),
        wrong(Kind.QUOTIENT, "an offset that isn't so", p -> p.putShort(9, (short) 1)),
        wrong(Kind.QUOTIENT, "a run more", p -> p.putLong(11, p.getLong(11) | Long.lowestOneBit(~p.getLong(11)))),
        wrong(Kind.QUOTIENT, "a run less", p -> p.putLong(11, p.getLong(11) & p.getLong(11) - 1)),
        wrong(Kind.QUOTIENT, "a run that ends before it starts", p -> {
          return p.putLong(19, p.getLong(19) & p.getLong(19) - 1 | firstZeroBelow(p.getLong(19)));
        }),
        wrong(Kind.QUOTIENT, "a byte too many", p -> longer(p)),
        wrong(Kind.CUCKOO, "f 1", p -> p.put(0, (byte) 1)),
        wrong(Kind.CUCKOO, "f 33", p -> p.put(0, (byte) 33)),
        wrong(Kind.CUCKOO, "buckets 0", p -> new byte[] {10, 0, 0, 0, 0}),
        wrong(Kind.CUCKOO, "many buckets", p -> p.putInt(1, -1)),
        wrong(Kind.INDEXED_CUCKOO, "15 bytes", p -> new byte[15]),
        wrong(Kind.INDEXED_CUCKOO, "n 0", p -> p.put(1, (byte) 0)),
        wrong(Kind.INDEXED_CUCKOO, "n 33", p -> p.put(1, (byte) 33)),
        wrong(Kind.INDEXED_CUCKOO, "capacity beyond n bits", p -> p.putInt(10, (1 << 14) + 1)),
        wrong(Kind.INDEXED_CUCKOO, "a day more than there are", p -> p.putShort(14, (short) 3)),
        wrong(Kind.BINARY_FUSE_8, "five bytes", p -> new byte[5]),
        wrong(Kind.BINARY_FUSE_8, "length_log2 19", p -> p.put(0, (byte) 19)),
        wrong(Kind.BINARY_FUSE_8, "2^32 firsts", p -> p.put(0, (byte) 18).putInt(2, 1 << 14)),
        wrong(Kind.BINARY_FUSE_16, "a byte too many", p -> longer(p)),
        wrong(Kind.BINARY_FUSE_16, "nothing in, but bytes", p -> new byte[7]),
        wrong(Kind.DAY_CHAIN, "three bytes", p -> new byte[3]),
        wrong(Kind.DAY_CHAIN, "more days than bytes", p -> p.putInt(0, -1)),
        wrong(Kind.DAY_CHAIN, "no blocks", p -> p.putInt(4 + 16, 0)),
        wrong(Kind.DAY_CHAIN, "more blocks than there are", p -> p.putInt(4 + 16, -1)),
        wrong(Kind.DAY_CHAIN, "days that ascend", p -> p.putInt(4, p.getInt(24) - 1)),
        wrong(Kind.DAY_CHAIN, "a byte too many", p -> longer(p)),
        wrong(Kind.FINGERPRINTS, "four bytes", p -> new byte[4]),
        wrong(Kind.FINGERPRINTS, "k 32", p -> p.put(0, (byte) 32)),
        wrong(Kind.FINGERPRINTS, "a count too many", p -> p.putInt(1, p.getInt(1) + 1)),
        wrong(Kind.FINGERPRINTS, "a count too few", p -> p.putInt(1, p.getInt(1) - 1)),
        wrong(Kind.FINGERPRINTS, "a count beyond memory", p -> p.putInt(1, -1)),
        wrong(Kind.FINGERPRINTS, "a byte too many", p -> longer(p)),
        wrong(Kind.FINGERPRINTS, "padding", p -> new byte[] {0, 1, 0, 0, 0, 3}),
        wrong(Kind.FINGERPRINTS, "nothing in, but a byte", p -> new byte[6]),
        wrong(Kind.FINGERPRINTS, "a value of 33 bits", p -> {
          return new byte[] {31, 1, 0, 0, 0, 0b100, 0, 0, 0, 0}; // two zeros, a one, 31 zeros: 2 << 31
        }));
  }

  /** {@code change} gets a good payload of 300 items; it returns another, or the buffer changed. */
  private static Arguments wrong(Kind kind, String what, Function<ByteBuffer, Object> change) {
    byte[] payload = Payloads.of(kind, Envelopes.prints(300, 11));
    Object changed = change.apply(ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN));
    return Arguments.of(kind, what, changed instanceof byte[] ? changed : payload);
  }

  private static byte[] longer(ByteBuffer payload) {
    return Arrays.copyOf(payload.array(), payload.capacity() + 1);
  }

  private static long firstZeroBelow(long ends) {
    return Long.lowestOneBit(ends) >>> 1;
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("wrongPayloads")
  void aPayloadThatBreaksARuleIsRefused(Kind kind, String what, byte[] payload) {
    byte[] bytes = Envelopes.around(kind.format(), payload, 300);
    RefusedException refusal = assertThrows(MalformedException.class, () -> Snapshot.parse(bytes));
    assertTrue(refusal.getMessage().startsWith("snapshot: " + kind.configurationName()), refusal.getMessage());
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void manyThreadsGetTheAnswersOfOne(Kind kind) throws Exception {
    Snapshot snapshot = snapshot(kind, Envelopes.prints(500, 21));
    int[] asked = IntStream.concat(
        Arrays.stream(Envelopes.prints(500, 21)), Arrays.stream(Envelopes.prints(UNSEEN, 22))).toArray();
    boolean[] alone = new boolean[asked.length];
    for (int i = 0; i < asked.length; ++i) {
      alone[i] = snapshot.mightContainFingerprint(asked[i]);
    }
    IntStream.range(0, asked.length).parallel().forEach(
        i -> assertEquals(alone[i], snapshot.mightContainFingerprint(asked[i]), "item " + i));
  }

  @Test
  void theExactSetHoldsItsLeastAndGreatestValues() throws Exception {
    Snapshot snapshot = snapshot(Kind.FINGERPRINTS, new int[] {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE});
    for (int print : new int[] {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertTrue(snapshot.mightContainFingerprint(print));
    }
    assertFalse(snapshot.mightContainFingerprint(2));
    assertFalse(snapshot.mightContainFingerprint(-2));
  }

  @Test
  void aQuotientFilterOfOneFullBlockFindsAll() throws Exception {
    int[] prints = Envelopes.prints(64, 9);
    for (int quotients : new int[] {1, 2, 63, 64}) { // down to a single run that takes every slot
      byte[] payload = Payloads.quotient(prints, 32, quotients, 128);
      Snapshot snapshot = Snapshot.parse(Envelopes.around(Kind.QUOTIENT.format(), payload, 64));
      for (int print : prints) {
        assertTrue(snapshot.mightContainFingerprint(print), quotients + " quotients");
      }
      assertEquals(0, Arrays.stream(Envelopes.prints(UNSEEN, 10)).filter(snapshot::mightContainFingerprint).count());
    }
  }

  @Test
  void entriesAsWideAsTheyGetAreRead() throws Exception {
    int[] prints = Envelopes.prints(200, 12);
    byte[][] payloads = {
      Payloads.cuckoo(prints, 32, 32, 100), Payloads.cuckoo(prints, 32, 0, 100), Payloads.dLeft(prints, 32, 16, 9)
    };
    Kind[] kinds = {Kind.INDEXED_CUCKOO, Kind.CUCKOO, Kind.D_LEFT};
    for (int i = 0; i < kinds.length; ++i) {
      Snapshot snapshot = Snapshot.parse(Envelopes.around(kinds[i].format(), payloads[i], 200));
      for (int print : prints) {
        assertTrue(snapshot.mightContainFingerprint(print), kinds[i].toString());
      }
      assertEquals(0, Arrays.stream(Envelopes.prints(UNSEEN, 10)).filter(snapshot::mightContainFingerprint).count());
    }
  }
}
