package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** tests/golden/update of the project: records, and what a reader answers after sequences of them. */
class GoldenUpdateTest {
  private static final List<Integer> PARTITIONS = IntStream.range(0, 10).boxed().collect(Collectors.toList());

  private FilterReader reader;
  private long nowMs;

  private static Stream<Named<JsonNode>> cases(String file, String list) throws IOException {
    return StreamSupport.stream(Golden.json("../update/" + file).get(list).spliterator(), false)
        .map(one -> Named.of(one.get("name").asText(), one));
  }

  static Stream<Named<JsonNode>> records() throws IOException {
    return cases("index.json", "records");
  }

  static Stream<Named<JsonNode>> refused() throws IOException {
    return cases("index.json", "refused");
  }

  static Stream<Named<JsonNode>> sequences() throws IOException {
    return cases("sequences.json", "sequences");
  }

  @ParameterizedTest
  @MethodSource("records")
  void recordsAreReadInFull(JsonNode expected) throws Exception {
    Update update = Update.parse(expected.get("bytes").binaryValue());
    assertEquals(expected.get("part").asInt(), update.part());
    assertEquals(expected.get("partition").asInt(), update.partition());
    assertEquals(expected.get("generation").asLong(), update.generation());
    assertEquals(expected.get("from").asLong(), update.from());
    assertEquals(expected.get("to").asLong(), update.to());
    assertEquals(expected.get("as_of_ms").asLong(), update.asOfMs());
    assertEquals(Golden.strings(expected.get("filters")), update.filters());
    assertEquals(expected.get("sections").size(), update.sections().size());
    for (int i = 0; i < update.sections().size(); ++i) {
      assertIs(expected.get("sections").get(i), update.sections().get(i));
    }
  }

  private static void assertIs(JsonNode expected, Update.Section section) {
    assertEquals(expected.get("mask").asInt(), section.mask());
    assertEquals(expected.get("kind").asInt(), section.kind());
    assertEquals(expected.get("until_s").asLong(), section.untilSecond());
    assertEquals(expected.get("entries").size(), section.entries());
    int at = 0;
    for (int i = 0; i < section.entries(); ++i) {
      JsonNode entry = expected.get("entries").get(i);
      assertEquals(entry.get("user").asText(), Long.toUnsignedString(section.user(i)));
      long[] fingerprints = new long[section.count(i)];
      for (int j = 0; j < fingerprints.length; ++j) {
        fingerprints[j] = Integer.toUnsignedLong(section.fingerprint(at++));
      }
      assertArrayEquals(
          StreamSupport.stream(entry.get("fingerprints").spliterator(), false).mapToLong(JsonNode::asLong).toArray(),
          fingerprints);
    }
    assertEquals(at, section.items());
  }

  /** The step of "What to refuse" by what the reader says: the first that fits. */
  private static int stepOf(String message) {
    Map<String, Integer> steps = new LinkedHashMap<>();
    steps.put("update: (no bytes|does not start with|cut off)", 1);
    steps.put("update: version ", 2);
    steps.put("update: header_bytes ", 3);
    steps.put("update: the checksum ", 4);
    steps.put("update: (partition|generation|from|to|as_of_ms|filter_count) ", 5);
    steps.put("update: name ", 6);
    steps.put("update: section at ", 7);
    return steps.entrySet().stream()
        .filter(entry -> Pattern.compile(entry.getKey()).matcher(message).lookingAt())
        .map(Map.Entry::getValue).findFirst().orElse(0);
  }

  @ParameterizedTest
  @MethodSource("refused")
  void whatIsWrongIsRefusedAtTheStepThatTheIndexNames(JsonNode record) throws Exception {
    byte[] bytes = record.get("bytes").binaryValue();
    RefusedException refusal = assertThrows(RefusedException.class, () -> Update.parse(bytes));
    int step = record.get("step").asInt();
    assertEquals(step, stepOf(refusal.getMessage()), refusal.getMessage());
    boolean newer = step == 2 || refusal.getMessage().contains(": kind ");
    assertEquals(newer, refusal instanceof UnknownFormatException, refusal.getMessage());
  }

  @ParameterizedTest
  @MethodSource("sequences")
  void afterASequenceTheReaderAnswersAsItSays(JsonNode sequence) throws Throwable {
    String topic = sequence.has("topic") ? sequence.get("topic").asText() : null;
    reader = new FilterReader(
        sequence.get("filter").asText(), PARTITIONS, sequence.get("additions_max").asLong(), topic, () -> nowMs);
    int number = 0;
    for (JsonNode step : sequence.get("steps")) {
      String at = "step " + number++ + ": " + step;
      if (step.has("expect")) {
        assertAnswers(step.get("expect"), at);
      } else if (step.path("refused").asBoolean()) {
        assertThrows(RefusedException.class, taking(step), at);
      } else {
        taking(step).execute();
      }
    }
  }

  private Executable taking(JsonNode step) throws IOException {
    if (step.has("beat")) {
      byte[] key = step.get("beat").get("key").asText().getBytes(StandardCharsets.UTF_8);
      byte[] value = step.get("beat").get("value").asText().getBytes(StandardCharsets.UTF_8);
      return () -> reader.takeBeat(key, step.get("beat").get("value").isNull() ? null : value);
    } else if (step.has("update")) {
      return () -> reader.takeUpdate(step.get("update").binaryValue());
    } else if (step.has("snapshot")) {
      JsonNode record = step.get("snapshot");
      byte[] value = record.get("value").isNull() ? null : record.get("value").binaryValue();
      return () -> reader.takeSnapshot(record.get("partition").asInt(), record.get("user").asText(), value);
    } else if (step.has("end")) {
      JsonNode end = step.get("end");
      return () -> reader.snapshotsEnd(end.get("partition").asInt(), end.get("position").asLong());
    }
    return () -> reader.snapshotsRestart(step.get("restart").asInt());
  }

  private void assertAnswers(JsonNode expected, String at) {
    nowMs = expected.get("now_ms").asLong();
    for (JsonNode partition : expected.get("partitions")) {
      int number = partition.get("partition").asInt();
      assertEquals(optional(partition.get("as_of_ms")), reader.asOf(number), at);
      assertEquals(optional(partition.get("complete_to")), reader.completeTo(number), at);
      assertEquals(partition.path("must_restart").asBoolean(), reader.mustRestart(number), at);
      assertEquals(Optional.ofNullable(partition.path("moved_to").textValue()), reader.movedTo(number), at);
      assertEquals(optional(partition.path("complete_since_ms")), reader.completeSinceMs(number), at);
    }
    assertEquals(expected.get("additions").asLong(), reader.additions(), at);
    for (JsonNode user : expected.get("users")) {
      String id = user.get("user").asText();
      assertEquals(user.get("refused").asBoolean(), reader.isRefused(id), at);
      assertAll(true, id, user.get("seen"), reader::mightContain, at);
      assertAll(false, id, user.get("unseen"), reader::mightContain, at);
      assertAll(true, id, user.get("near"), reader::mightBeNear, at);
      assertAll(false, id, user.get("not_near"), reader::mightBeNear, at);
      assertAll(true, id, user.get("groups"), reader::mightHoldGroup, at);
      assertAll(false, id, user.get("not_groups"), reader::mightHoldGroup, at);
      List<String> unseen = Golden.strings(user.get("unseen"));
      assertEquals(unseen, reader.unseen(id, unseen, List.of()), at);
      assertEquals(List.of(), reader.unseen(id, Golden.strings(user.get("seen")), List.of()), at);
    }
  }

  private static OptionalLong optional(JsonNode value) {
    return value.isNull() || value.isMissingNode() ? OptionalLong.empty() : OptionalLong.of(value.asLong());
  }

  private static void assertAll(
      boolean expected, String user, JsonNode ids, BiPredicate<String, String> answer, String at) {
    for (String id : Golden.strings(ids)) {
      assertEquals(expected, answer.test(user, id), id + ", " + at);
    }
  }
}
