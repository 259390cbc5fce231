package io.seen.client;

import com.dynatrace.hash4j.hashing.Hashing;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** tests/golden/snapshot of the project. */
final class Golden {
  private static final Path DIRECTORY = Path.of(System.getProperty("seen.golden"));

  /** The random ids that all readers are asked: 100,000. */
  static final List<String> RANDOM_IDS = IntStream.range(0, 100_000)
      .mapToObj(number -> Payloads.little(4).putInt(number).array())
      .map(bytes -> Long.toUnsignedString(Hashing.xxh64().hashBytesToLong(bytes)))
      .collect(Collectors.toUnmodifiableList());

  private static JsonNode index;

  private Golden() {}

  static JsonNode index() throws IOException {
    if (index == null) {
      index = json("index.json");
    }
    return index;
  }

  static JsonNode json(String name) throws IOException {
    return new ObjectMapper().readTree(DIRECTORY.resolve(name).toFile());
  }

  /** The cases of another JSON file. */
  static Stream<JsonNode> cases(String name) throws IOException {
    return StreamSupport.stream(json(name).get("cases").spliterator(), false);
  }

  static byte[] bytes(String file) throws IOException {
    return Files.readAllBytes(DIRECTORY.resolve(file));
  }

  static Stream<File> files(String list) throws IOException {
    return StreamSupport.stream(index().get(list).spliterator(), false).map(File::new);
  }

  static List<String> strings(JsonNode array) {
    List<String> strings = new ArrayList<>();
    array.forEach(element -> strings.add(element.asText()));
    return strings;
  }

  static final class File {
    private final JsonNode entry;

    File(JsonNode entry) {
      this.entry = entry;
    }

    String name() {
      return entry.get("file").asText();
    }

    JsonNode entry(String member) {
      return entry.path(member);
    }

    byte[] bytes() throws IOException {
      return Golden.bytes(name());
    }

    @Override
    public String toString() {
      return name();
    }
  }
}
