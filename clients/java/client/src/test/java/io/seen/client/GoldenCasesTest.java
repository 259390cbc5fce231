package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The golden files beside the snapshots: watermarks, and ids that are seen besides. */
class GoldenCasesTest {

  static Stream<JsonNode> watermarks() throws IOException {
    return Golden.cases("watermarks.json");
  }

  static Stream<JsonNode> alsoSeen() throws IOException {
    return Golden.cases("also_seen.json");
  }

  private static byte[] bytes(JsonNode text, int spaces) {
    return text.isNull() ? null : (text.asText() + " ".repeat(spaces)).getBytes(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @MethodSource("watermarks")
  void recordsAreTakenOrRefusedAndThenAnswered(JsonNode oneCase) throws Exception {
    Watermarks watermarks = new Watermarks();
    for (JsonNode record : oneCase.get("records")) {
      byte[] key = bytes(record.get("key"), 0);
      byte[] value = bytes(record.get("value"), record.path("spaces").asInt());
      if (record.get("refused").asBoolean()) {
        Optional<Watermark> before = watermarks.of(3);
        assertThrows(RefusedException.class, () -> watermarks.accept(key, value), record.toString());
        assertEquals(before, watermarks.of(3), record.toString());
      } else {
        watermarks.accept(key, value);
      }
    }
    Instant now = Instant.ofEpochMilli(oneCase.get("now_ms").asLong());
    int known = 0;
    for (JsonNode row : oneCase.get("watermarks")) {
      Watermark watermark = watermarks.of(row.get("partition").asInt()).orElseThrow();
      assertEquals(row.get("as_of_ms").asLong(), watermark.asOf().toEpochMilli());
      assertEquals(Duration.ofMillis(row.get("stale_by_ms").asLong()), watermark.staleBy(now));
      ++known;
    }
    for (int partition : new int[] {0, 3, 4, 5, Integer.MAX_VALUE}) {
      known -= watermarks.of(partition).isPresent() ? 1 : 0;
    }
    assertEquals(0, known, "there are others");
    for (JsonNode row : oneCase.get("snapshots")) {
      Snapshot snapshot = Snapshot.parse(Golden.bytes(row.get("file").asText()));
      assertEquals(row.get("as_of_ms").asLong(), watermarks.asOf(snapshot).toEpochMilli());
      assertEquals(Duration.ofMillis(row.get("stale_by_ms").asLong()), watermarks.staleBy(snapshot, now));
    }
  }

  @ParameterizedTest
  @MethodSource("alsoSeen")
  void idsThatAreSeenBesidesCount(JsonNode oneCase) throws Exception {
    Snapshot snapshot = Snapshot.parse(Golden.bytes(oneCase.get("file").asText()));
    SeenItems items = snapshot.alsoSeen(Golden.strings(oneCase.get("also_seen")));
    assertEquals(
        Golden.strings(oneCase.get("unseen")), items.unseen(Golden.strings(oneCase.get("candidates"))));
    SeenItems cut = snapshot.withoutDaysBefore(LocalDate.MAX).alsoSeen(Golden.strings(oneCase.get("also_seen")));
    oneCase.get("recall_size").fields().forEachRemaining(size -> {
      int want = Integer.parseInt(size.getKey());
      assertEquals(size.getValue().asLong(), items.recallSize(want));
      assertEquals(size.getValue().asLong(), cut.recallSize(want), "days that are left out change nothing");
    });
  }
}
