package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WatermarksTest {
  private static final String GOOD =
      "{'version':1,'partition':3,'partition_time_ms':5000,'next_offset':77,'lag_messages':0,"
          + "'unpublished_users':2,'heartbeat_ms':9000}";
  private final Watermarks watermarks = new Watermarks();

  private static byte[] bytes(String text) {
    return text.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
  }

  private static Instant ms(long ms) {
    return Instant.ofEpochMilli(ms);
  }

  @Test
  void whatItSaysIsRead() throws Exception {
    Watermark watermark = Watermark.parse(bytes(GOOD.replace("{", "{'more':{'a':[1,{}]},'other':null,")));
    assertEquals(3, watermark.partition());
    assertEquals(ms(5_000), watermark.partitionTime());
    assertEquals(77, watermark.nextOffset());
    assertEquals(0, watermark.lagMessages());
    assertEquals(2, watermark.unpublishedUsers());
    assertEquals(ms(9_000), watermark.heartbeat());
  }

  @Test
  void aQuietStreamIsAsFreshAsTheHeartbeatAndALaggingOneAsItsReading() throws Exception {
    Watermark quiet = Watermark.parse(bytes(GOOD));
    assertEquals(ms(9_000), quiet.asOf());
    Watermark lagging = Watermark.parse(bytes(GOOD.replace("'lag_messages':0", "'lag_messages':1")));
    assertEquals(ms(5_000), lagging.asOf());
    Watermark ahead = Watermark.parse(bytes(
        GOOD.replace("'lag_messages':0", "'lag_messages':1").replace("5000", "9500"))); // a producer's clock is ahead
    assertEquals(ms(9_000), ahead.asOf());
    assertEquals(Duration.ofMillis(1_500), quiet.staleBy(ms(10_500)));
    assertEquals(Duration.ZERO, quiet.staleBy(ms(8_000)));
  }

  @Test
  void aSnapshotIsAsFreshAsTheLaterOfItsOwnTimeAndItsPartitionsWatermark() throws Exception {
    Snapshot snapshot = Snapshot.empty(3);
    assertEquals(Instant.EPOCH, watermarks.asOf(snapshot));
    watermarks.accept(bytes("3"), bytes(GOOD));
    assertEquals(ms(9_000), watermarks.asOf(snapshot));
    assertEquals(Duration.ofMillis(1_000), watermarks.staleBy(snapshot, ms(10_000)));
    assertEquals(Duration.ZERO, watermarks.staleBy(snapshot, ms(0)));
    assertEquals(Instant.EPOCH, watermarks.asOf(Snapshot.empty(2)));
    assertEquals(Instant.EPOCH, watermarks.asOf(Snapshot.empty()));
    Snapshot newer = Snapshot.parse(Envelopes.of(Kind.BLOOM, new int[] {1}));
    assertEquals(ms(Envelopes.AS_OF_MS), watermarks.asOf(newer));
    watermarks.accept(bytes("3"), null);
    assertFalse(watermarks.of(3).isPresent());
  }

  @Test
  void aNewerVersionIsRefusedAsSuchWhateverElseItHolds() throws Exception {
    watermarks.accept(bytes("3"), bytes(GOOD));
    assertThrows(UnknownFormatException.class, () -> watermarks.accept(bytes("3"), bytes("{'version':2}")));
    assertTrue(watermarks.of(3).isPresent(), "the one before is kept");
  }

  @ParameterizedTest
  @ValueSource(strings = {
    "", "null", "[]", "{", "{}", "{'version':1}", "{'version':'1'}", GOOD + GOOD, GOOD + "x", "\ufeff",
    "{'version':1,'partition':3,'partition_time_ms':5000.5,'next_offset':77,'lag_messages':0,"
        + "'unpublished_users':2,'heartbeat_ms':9000}",
    "{'version':1,'partition':3,'partition_time_ms':5000,'next_offset':77,'lag_messages':0,"
        + "'unpublished_users':2,'heartbeat_ms':99999999999999999999}",
    "{'version':1,'partition':-3,'partition_time_ms':5000,'next_offset':77,'lag_messages':0,"
        + "'unpublished_users':2,'heartbeat_ms':9000}"
  })
  void whatIsNoWatermarkIsRefused(String text) {
    assertThrows(MalformedException.class, () -> watermarks.accept(bytes("3"), bytes(text)));
  }

  @Test
  void theKeyIsThePartition() {
    assertThrows(MalformedException.class, () -> watermarks.accept(bytes("4"), bytes(GOOD)));
    assertThrows(MalformedException.class, () -> watermarks.accept(null, bytes(GOOD)));
    assertThrows(MalformedException.class, () -> watermarks.accept(bytes("x"), null));
  }

  @Test
  void bytesCutOffAnywhereAreRefused() {
    byte[] good = bytes(GOOD);
    for (int length = 0; length < good.length; ++length) {
      byte[] cut = Arrays.copyOf(good, length);
      assertThrows(MalformedException.class, () -> Watermark.parse(cut), length + " bytes");
    }
  }
}
