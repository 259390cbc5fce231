package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Snapshots that say what is similar. */
class SimilarTest {
  private static final byte[] FIRST = Envelopes.of(Kind.BLOOM, new int[] {Fingerprints.of("seen")});

  /** By the specification's words, of any library's XXH64. */
  private static int print(String id, int domain) {
    byte[] bytes = Payloads.little(5).putInt(Fingerprints.of(id)).put((byte) domain).array();
    return (int) (Fingerprints.XXH64.hashBytesToLong(bytes, 0, bytes.length) >>> 32);
  }

  private static byte[] good() {
    int[] prints = {print("near", 1), print("7", 1), print("group", 2), print("8", 2)};
    return Envelopes.withSimilar(FIRST, Kind.FINGERPRINTS.format(), Payloads.of(Kind.FINGERPRINTS, prints));
  }

  @Test
  void whatIsSimilarIsAskedApartFromWhatWasSeen() throws Exception {
    Snapshot snapshot = Snapshot.parse(good());
    assertTrue(snapshot.hasSimilar());
    assertEquals(Kind.FINGERPRINTS, snapshot.similarKind());
    assertEquals(12, snapshot.similarCount());
    assertTrue(snapshot.mightContain("seen"));
    assertFalse(snapshot.mightContain("near"));
    assertFalse(snapshot.mightBeNear("seen"));
    assertFalse(snapshot.mightBeNear("group"));
    assertFalse(snapshot.mightHoldGroup("near"));
    assertTrue(snapshot.mightBeNear(7));
    assertFalse(snapshot.mightBeNear(8));
    assertTrue(snapshot.mightHoldGroup(8));
    assertFalse(snapshot.mightHoldGroup(7));
    assertArrayEquals(new boolean[] {false, true}, snapshot.mightBeNear(List.of("seen", "near")));
    assertArrayEquals(new boolean[] {true, false}, snapshot.mightHoldGroup(List.of("group", "near")));
  }

  @Test
  void nothingIsNearWhereTheSnapshotDoesNotSay() throws Exception {
    for (Snapshot snapshot : List.of(Snapshot.empty(), Snapshot.parse(FIRST))) {
      assertFalse(snapshot.hasSimilar());
      assertNull(snapshot.similarKind());
      assertFalse(snapshot.mightBeNear("near"));
      assertFalse(snapshot.mightHoldGroup("group"));
    }
  }

  static Stream<Arguments> wrong() {
    return Stream.of(
        wrong("flags 3", true, b -> b.put(7, (byte) 3)),
        wrong("similar_bytes 4294967295", false, b -> b.putInt(56, -1)),
        wrong("similar_bytes " + (good().length - 71), false, b -> b.putInt(56, b.limit() - 71)),
        wrong("similar_format 0", true, b -> b.put(60, (byte) 0)),
        wrong("similar_format 7", true, b -> b.put(60, (byte) 7)),
        wrong("similar_format 10", true, b -> b.put(60, (byte) 10)),
        wrong("similar_format 12", true, b -> b.put(60, (byte) 12)),
        wrong("snapshot: bloom: payload_bytes 0", false, b -> b.putInt(56, b.limit() - 72)),
        wrong("what is similar: snapshot: fingerprints: ", false, b -> b.putInt(56, 3)));
  }

  private static Arguments wrong(String message, boolean newer, Consumer<ByteBuffer> change) {
    return Arguments.of(message, newer, change);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrong")
  void whatIsWrongIsNamed(String message, boolean newer, Consumer<ByteBuffer> change) {
    byte[] bytes = good();
    change.accept(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    Envelopes.signed(bytes);
    RefusedException refusal = assertThrows(RefusedException.class, () -> Snapshot.parse(bytes));
    assertTrue(refusal.getMessage().contains(message), refusal.getMessage());
    assertEquals(newer, refusal instanceof UnknownFormatException);
  }

  @Test
  void theFlagNeedsItsFields() {
    byte[] bytes = FIRST.clone();
    bytes[7] = 1;
    Envelopes.signed(bytes);
    RefusedException refusal = assertThrows(MalformedException.class, () -> Snapshot.parse(bytes));
    assertEquals("snapshot: header_bytes 56; with bit 0 of flags 72 or more", refusal.getMessage());
  }

  @Test
  void whatIsReservedIsNotLookedAt() throws Exception {
    byte[] bytes = good();
    bytes[61] = -1;
    bytes[71] = -1;
    assertTrue(Snapshot.parse(Envelopes.signed(bytes)).mightBeNear("near"));
  }
}
