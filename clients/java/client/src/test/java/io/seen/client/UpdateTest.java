package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class UpdateTest {
  private static final int HEADER_BYTES = 59;

  private static Updates some() {
    return Updates.of(3, 7, 100, 120).part(200).filters("F", "é")
        .section(3, 0, 4_000_000_000L, new String[] {"u1", "u2"}, new int[] {1, -2}, new int[] {3})
        .section(2, 1, 0, new String[] {"u1"}, new int[] {4});
  }

  @Test
  void whatItSaysIsRead() throws Exception {
    Update update = Update.parse(some().bytes());
    assertEquals(3, update.partition());
    assertEquals(7, update.generation());
    assertEquals(100, update.from());
    assertEquals(120, update.to());
    assertEquals(200, update.part());
    assertEquals(Updates.AS_OF_MS, update.asOfMs());
    assertEquals(List.of("F", "é"), update.filters());
    assertEquals("update of partition 3, generation 7, [100, 120)", update.toString());
    assertEquals(2, update.sections().size());
    Update.Section first = update.sections().get(0);
    assertEquals(3, first.mask());
    assertEquals(Update.Section.SEEN, first.kind());
    assertEquals(4_000_000_000L, first.untilSecond());
    assertEquals(2, first.entries());
    assertEquals(3, first.items());
    assertEquals(Updates.hash("u2"), first.user(1));
    assertEquals(2, first.count(0));
    assertEquals(1, first.count(1));
    assertEquals(-2, first.fingerprint(1));
    assertEquals(3, first.fingerprint(2));
    Update.Section second = update.sections().get(1);
    assertEquals(2, second.mask());
    assertEquals(Update.Section.SIMILAR, second.kind());
    assertEquals(4, second.fingerprint(0));
  }

  @Test
  void aQuietPartitionsRecordHasNoSections() throws Exception {
    Update update = Update.parse(Updates.of(0, 1, 5, 5).asOf(-1).bytes());
    assertEquals(List.of(), update.sections());
    assertEquals(-1, update.asOfMs());
  }

  @Test
  void readOnlyAndDirectBuffersAreRead() throws Exception {
    byte[] bytes = some().bytes();
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length + 5);
    direct.position(3).put(bytes).flip().position(3);
    for (ByteBuffer buffer : List.of(direct, ByteBuffer.wrap(bytes).asReadOnlyBuffer())) {
      int position = buffer.position();
      assertEquals(4, Update.parse(buffer).sections().get(1).fingerprint(0));
      assertEquals(position, buffer.position());
    }
  }

  /** Each fails its step and most of the later ones. */
  static Stream<Arguments> wrong() {
    return Stream.of(
        wrong("does not start with \"SEEU\"", false, b -> b.putInt(0, 0x4E454553).put(4, (byte) 9)),
        wrong("version 2; this reader knows 1", true, b -> b.put(4, (byte) 2).putShort(6, (short) 0)),
        wrong("header_bytes 55; 56 to 8192", false, b -> b.putShort(6, (short) 55).putInt(12, -1)),
        wrong("header_bytes 8193; 56 to 8192", false, b -> b.putShort(6, (short) 8193)),
        wrong("header_bytes 5000; the record has", false, b -> b.putShort(6, (short) 5000).putInt(12, -1)),
        wrong("partition -1; 0 to", false, b -> b.putInt(12, -1).putLong(16, 0)),
        wrong("generation 0; 1 to", false, b -> b.putLong(16, 0).put(49, (byte) 0)),
        wrong("from -1; 0 to", false, b -> b.putLong(24, -1)),
        wrong("to 99; 100 to", false, b -> b.putLong(32, 99)),
        wrong("as_of_ms -2; -1 to", false, b -> b.putLong(40, -2)),
        wrong("filter_count 0; 1 to 16", false, b -> b.put(48, (byte) 0)),
        wrong("filter_count 17; 1 to 16", false, b -> b.put(48, (byte) 17)),
        wrong("name 0 of 2 is empty", false, b -> b.put(49, (byte) 0).putShort(HEADER_BYTES, (short) 0)),
        wrong("name 1 of 2 is empty, or doesn't end", false, b -> b.put(51, (byte) 8)),
        wrong("name 1 of 2 is empty, or doesn't end", false, b -> b.put(51, (byte) 255)),
        wrong("name F comes twice", false, b -> b.put(51, (byte) 1).put(52, (byte) 'F')),
        wrong("section at 59: mask 0 of 2", false, b -> b.putShort(HEADER_BYTES, (short) 0)),
        wrong("section at 59: mask 5 of 2", false, b -> b.putShort(HEADER_BYTES, (short) 5)),
        wrong("section at 59: mask 32769 of 2", false, b -> b.putShort(HEADER_BYTES, (short) 0x8001)),
        wrong("section at 59: kind 2; this reader knows 0 and 1", true, b -> b.put(HEADER_BYTES + 2, (byte) 2)),
        wrong("section at 59: 0 users", false, b -> b.putInt(HEADER_BYTES + 8, 0)),
        wrong("section at 59: 2 users with 0 items", false, b -> b.putInt(HEADER_BYTES + 12, 0)),
        wrong("section at 59: 4294967295 users", false, b -> b.putInt(HEADER_BYTES + 8, -1)),
        wrong("section at 59: 2 users with 4294967295 items", false, b -> b.putInt(HEADER_BYTES + 12, -1)),
        wrong("section at 59: 2 users with 1073741824 items", false, b -> b.putInt(HEADER_BYTES + 12, 1 << 30)),
        wrong("section at 59: its users have 2 items; it has 3", false, b -> b.putShort(HEADER_BYTES + 32, (short) 1)),
        wrong("section at 59: user 1 has no items", false,
            b -> b.putShort(HEADER_BYTES + 32, (short) 3).putShort(HEADER_BYTES + 34, (short) 0)));
  }

  private static Arguments wrong(String message, boolean newer, Consumer<ByteBuffer> change) {
    return Arguments.of(message, newer, change);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrong")
  void whatIsWrongIsNamed(String message, boolean newer, Consumer<ByteBuffer> change) {
    byte[] bytes = some().bytes();
    change.accept(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    Updates.signed(bytes);
    RefusedException refusal = assertThrows(RefusedException.class, () -> Update.parse(bytes));
    assertTrue(refusal.getMessage().startsWith("update: " + message), refusal.getMessage());
    assertEquals(newer, refusal instanceof UnknownFormatException);
  }

  @Test
  void theChecksumIsLookedAtBeforeTheFields() {
    byte[] bytes = some().bytes();
    bytes[15] = -1;
    RefusedException refusal = assertThrows(MalformedException.class, () -> Update.parse(bytes));
    assertEquals("update: the checksum does not match: damaged on the way", refusal.getMessage());
  }

  @Test
  void sectionsEndWhereTheRecordEnds() {
    byte[] good = some().bytes();
    for (int size = HEADER_BYTES + 1; size < good.length + 16; ++size) {
      byte[] bytes = Updates.signed(Arrays.copyOf(good, size));
      if (size != good.length && size != HEADER_BYTES + 16 + 20 + 12) {
        assertThrows(MalformedException.class, () -> Update.parse(bytes), size + " bytes");
      }
    }
  }

  @Test
  void aChangedByteIsNoticed() {
    byte[] good = some().bytes();
    for (int at = 0; at < good.length; ++at) {
      byte[] bytes = good.clone();
      bytes[at] ^= (byte) (1 << at % 8);
      assertThrows(RefusedException.class, () -> Update.parse(bytes), "byte " + at);
    }
    for (int length = 0; length < good.length; ++length) {
      byte[] bytes = Arrays.copyOf(good, length);
      assertThrows(MalformedException.class, () -> Update.parse(bytes), length + " bytes");
    }
  }

  /** Whatever the bytes are, they are taken or refused, and what is refused changes nothing. Seeded. */
  @Test
  void anyBytesWithTheRightChecksumAreTakenOrRefused() {
    Random random = new Random(5);
    byte[] good = some().bytes();
    int[] interesting = {0, 1, 2, 3, 55, 56, 59, 127, 128, 255};
    int taken = 0;
    for (int round = 0; round < 40_000; ++round) {
      byte[] bytes = random.nextInt(8) == 0 ? Arrays.copyOf(good, random.nextInt(good.length + 20)) : good.clone();
      for (int changes = random.nextInt(4); changes >= 0 && bytes.length > 0; --changes) {
        byte value = (byte) (random.nextBoolean() ? random.nextInt(256) : interesting[random.nextInt(10)]);
        bytes[random.nextInt(bytes.length)] = value;
      }
      FilterReader reader = new FilterReader("F", List.of(3), 1_000);
      try {
        reader.takeUpdate(bytes.length < 12 ? bytes : Updates.signed(bytes));
        ++taken;
      } catch (RefusedException refused) {
        assertEquals(0, reader.additions());
        assertTrue(refused.getMessage().startsWith("update: "), refused.getMessage());
      } catch (RuntimeException unexpected) {
        throw new AssertionError("round " + round + ": " + Arrays.toString(bytes), unexpected);
      }
    }
    assertTrue(taken > 4_000, "only " + taken + " were taken: the rest of the reader wasn't reached");
  }
}
