package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.dynatrace.hash4j.hashing.Hashing;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The files that every reader is tested with. */
class GoldenTest {

  static Stream<Golden.File> snapshots() throws IOException {
    return Golden.files("snapshots");
  }

  static Stream<Golden.File> refused() throws IOException {
    return Golden.files("refused");
  }

  static Stream<JsonNode> hashes() throws IOException {
    List<JsonNode> all = new ArrayList<>();
    Golden.index().get("hashes").forEach(all::add);
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("snapshots")
  void answersAreRight(Golden.File file) throws Exception {
    Snapshot snapshot = Snapshot.parse(file.bytes());
    assertEquals(List.of(), snapshot.unseen(Golden.strings(file.entry("seen"))));
    List<String> unseen = Golden.strings(file.entry("unseen"));
    assertEquals(unseen, snapshot.unseen(unseen));
    for (JsonNode fingerprint : file.entry("seen_fingerprints")) {
      assertTrue(snapshot.mightContainFingerprint((int) fingerprint.asLong()), fingerprint.asText());
    }
    for (JsonNode fingerprint : file.entry("unseen_fingerprints")) {
      assertFalse(snapshot.mightContainFingerprint((int) fingerprint.asLong()), fingerprint.asText());
    }
  }

  @ParameterizedTest
  @MethodSource("snapshots")
  void whatWasSeenOnDaysThatAreLeftOutIsNot(Golden.File file) throws Exception {
    Snapshot snapshot = Snapshot.parse(file.bytes());
    Instant created = Instant.ofEpochSecond(file.entry("created_second").asLong());
    List<String> earlier = Golden.strings(file.entry("unseen_created"));
    for (String id : earlier) {
      assertFalse(snapshot.mightContain(id, created), id);
    }
    assertEquals(earlier, snapshot.unseen(earlier, id -> id, id -> created));
    Snapshot cut = snapshot.withoutDaysBefore(LocalDate.ofEpochDay(file.entry("from_day").asLong()));
    List<String> older = Golden.strings(file.entry("unseen_from"));
    assertEquals(older, cut.unseen(older));
  }

  @ParameterizedTest
  @MethodSource("snapshots")
  void metadataIsRight(Golden.File file) throws Exception {
    Snapshot snapshot = Snapshot.parse(ByteBuffer.wrap(file.bytes()));
    assertEquals(file.entry("format").asText(), snapshot.kind().configurationName());
    assertEquals(file.entry("item_count").asLong(), snapshot.itemCount());
    assertEquals(Instant.ofEpochMilli(file.entry("as_of_ms").asLong()), snapshot.asOf());
    assertEquals(LocalDate.ofEpochDay(file.entry("horizon_day").asLong()), snapshot.horizon());
    assertEquals(file.entry("partition").asInt(), snapshot.partition());
    assertEquals(file.entry("input_offset").asLong(), snapshot.inputOffset());
    assertEquals(file.entry("false_positive_rate").asDouble(), snapshot.falsePositiveRate());
    file.entry("recall_size").fields().forEachRemaining(
        size -> assertEquals(size.getValue().asLong(), snapshot.recallSize(Integer.parseInt(size.getKey()))));
  }

  @ParameterizedTest
  @MethodSource("snapshots")
  void answersOfRandomIdsAreThoseOfEveryReader(Golden.File file) throws Exception {
    Snapshot snapshot = Snapshot.parse(file.bytes());
    assertRandomAnswers(file.entry("random"), snapshot::mightContain);
    Instant created = Instant.ofEpochSecond(file.entry("created_second").asLong());
    assertRandomAnswers(file.entry("random_created"), id -> snapshot.mightContain(id, created));
    Snapshot cut = snapshot.withoutDaysBefore(LocalDate.ofEpochDay(file.entry("from_day").asLong()));
    assertRandomAnswers(file.entry("random_from"), cut::mightContain);
  }

  private static void assertRandomAnswers(JsonNode expected, Predicate<String> mightContain) {
    if (expected.isMissingNode()) {
      return;
    }
    byte[] answers = new byte[expected.get("count").asInt()];
    int yes = 0;
    for (int i = 0; i < answers.length; ++i) {
      answers[i] = (byte) (mightContain.test(Golden.RANDOM_IDS.get(i)) ? 1 : 0);
      yes += answers[i];
    }
    assertEquals(expected.get("might_contain").asInt(), yes);
    String hash = String.format("%016x", Hashing.xxh64().hashBytesToLong(answers));
    assertEquals(expected.get("xxh64_of_answers").asText(), hash);
  }

  @ParameterizedTest
  @MethodSource("snapshots")
  void whatWasShownOnADayIsFoundByItsLastSecondInAWindowFromIt(Golden.File file) throws Exception {
    Snapshot snapshot = Snapshot.parse(file.bytes());
    for (JsonNode day : file.entry("days")) {
      Snapshot cut = snapshot.withoutDaysBefore(LocalDate.ofEpochDay(day.get("day").asLong()));
      Instant last = Instant.ofEpochSecond(day.get("last_second").asLong());
      for (String id : Golden.strings(day.get("seen"))) {
        assertTrue(cut.mightContain(id, last), id);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("snapshots")
  void entriesLeadToNumberDayAndRank(Golden.File file) throws Exception {
    Snapshot snapshot = Snapshot.parse(file.bytes());
    Map<String, List<String>> expected = new HashMap<>();
    for (JsonNode row : file.entry("entries")) {
      LocalDate day = row.get("day").isNull() ? null : LocalDate.ofEpochDay(row.get("day").asLong());
      IndexedEntry entry = new IndexedEntry(row.get("number").asLong(), day, row.get("rank").asLong());
      expected.computeIfAbsent(row.get("id").asText(), id -> new ArrayList<>()).add(entry.toString());
    }
    expected.forEach((id, entries) -> assertEquals(
        entries.stream().sorted().collect(Collectors.toList()),
        snapshot.entries(id).stream().map(IndexedEntry::toString).sorted().collect(Collectors.toList()), id));
    for (String id : Golden.strings(file.entry("unseen"))) {
      assertEquals(List.of(), snapshot.entries(id), id);
    }
  }

  @ParameterizedTest
  @MethodSource("snapshots")
  void whatIsSimilarIsAnsweredApart(Golden.File file) throws Exception {
    Snapshot snapshot = Snapshot.parse(file.bytes());
    assertEquals(file.name().startsWith("similar_"), snapshot.hasSimilar());
    assertEquals(file.entry("similar_count").asLong(), snapshot.similarCount());
    if (!snapshot.hasSimilar()) {
      assertFalse(snapshot.mightBeNear("n1") || snapshot.mightHoldGroup("n1"));
      return;
    }
    assertEquals(file.entry("similar_format").asText(), snapshot.similarKind().configurationName());
    assertAll(true, Golden.strings(file.entry("near")), snapshot::mightBeNear, snapshot::mightBeNear);
    assertAll(false, Golden.strings(file.entry("not_near")), snapshot::mightBeNear, snapshot::mightBeNear);
    assertAll(true, Golden.strings(file.entry("groups")), snapshot::mightHoldGroup, snapshot::mightHoldGroup);
    assertAll(false, Golden.strings(file.entry("not_groups")), snapshot::mightHoldGroup, snapshot::mightHoldGroup);
    assertRandomAnswers(file.entry("random_near"), snapshot::mightBeNear);
    assertRandomAnswers(file.entry("random_groups"), snapshot::mightHoldGroup);
    Snapshot cut = snapshot.withoutDaysBefore(LocalDate.MAX);
    for (String id : Golden.strings(file.entry("near"))) {
      assertTrue(cut.mightBeNear(id), id);
    }
  }

  private static void assertAll(
      boolean expected, List<String> ids, Predicate<String> one, Function<List<String>, boolean[]> many) {
    boolean[] answers = many.apply(ids);
    assertEquals(ids.size(), answers.length);
    for (int i = 0; i < answers.length; ++i) {
      assertEquals(expected, answers[i], ids.get(i));
      assertEquals(expected, one.test(ids.get(i)), ids.get(i));
    }
  }

  @ParameterizedTest
  @MethodSource("snapshots")
  void readOnlyAndDirectBuffersAreRead(Golden.File file) throws Exception {
    byte[] bytes = file.bytes();
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length + 5);
    direct.position(3).put(bytes).flip().position(3);
    for (ByteBuffer buffer : List.of(direct, ByteBuffer.wrap(bytes).asReadOnlyBuffer())) {
      int position = buffer.position();
      Snapshot snapshot = Snapshot.parse(buffer);
      assertEquals(position, buffer.position());
      for (String id : Golden.strings(file.entry("seen"))) {
        assertTrue(snapshot.mightContain(id), id);
      }
    }
  }

  /** The step of "What to refuse" by what the reader says: the first that fits. */
  private static int stepOf(String message) {
    Map<String, Integer> steps = new LinkedHashMap<>();
    steps.put("snapshot: (no bytes|does not start with|cut off)", 1);
    steps.put("snapshot: version", 2);
    steps.put("snapshot: header_bytes .*with bit 0 of flags", 8);
    steps.put("snapshot: header_bytes", 3);
    steps.put("snapshot: [0-9]+ bytes; its header says", 4);
    steps.put("snapshot: the checksum", 5);
    steps.put("snapshot: (format|hash|flags) ", 6);
    steps.put("snapshot: false_positive_rate", 7);
    steps.put("snapshot: similar_(bytes|format) ", 8);
    steps.put("(what is similar: )?snapshot: [a-z_0-9]+: ", 9);
    return steps.entrySet().stream()
        .filter(entry -> Pattern.compile(entry.getKey()).matcher(message).lookingAt())
        .map(Map.Entry::getValue).findFirst().orElse(0);
  }

  @ParameterizedTest
  @MethodSource("refused")
  void whatIsWrongIsRefusedAtTheStepThatTheIndexNames(Golden.File file) throws IOException {
    byte[] bytes = file.bytes();
    RefusedException refusal = assertThrows(RefusedException.class, () -> Snapshot.parse(bytes));
    int step = file.entry("step").asInt();
    assertEquals(step, stepOf(refusal.getMessage()), refusal.getMessage());
    boolean newer = step == 2 || step == 6 || refusal.getMessage().contains("similar_format");
    assertEquals(newer, refusal instanceof UnknownFormatException, refusal.getMessage());
  }

  @ParameterizedTest
  @MethodSource("hashes")
  void idsAreHashedAsEverywhere(JsonNode row) {
    String id = row.get("id").asText();
    int fingerprint = Fingerprints.of(id);
    assertEquals(row.get("fingerprint").asLong(), Integer.toUnsignedLong(fingerprint));
    assertEquals(row.get("xxh64_of_fingerprint").asText(), String.format("%016x", Fingerprints.hash(fingerprint)));
    int near = Fingerprints.inDomain(fingerprint, Fingerprints.NEAR);
    assertEquals(row.get("near_fingerprint").asLong(), Integer.toUnsignedLong(near));
    int group = Fingerprints.inDomain(fingerprint, Fingerprints.GROUP);
    assertEquals(row.get("group_fingerprint").asLong(), Integer.toUnsignedLong(group));
    if (id.matches("-?[1-9][0-9]{0,17}")) {
      assertEquals(fingerprint, Fingerprints.of(Long.parseLong(id)));
    }
  }
}
