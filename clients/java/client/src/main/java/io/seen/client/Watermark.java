package io.seen.client;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** How far the daemon has come with one input partition, as it says once a second. Immutable. */
public final class Watermark {
  private static final JsonFactory JSON = new JsonFactory();
  private static final int VERSION = 1;
  private static final int BYTES_MAX = 65_536;
  private static final String[] FIELDS = {
    "version", "partition", "partition_time_ms", "next_offset", "lag_messages", "unpublished_users", "heartbeat_ms",
    "generation", "published_to", "updates_from"
  };
  private static final int REQUIRED = 7;
  private static final int GENERATION = 7;
  private static final int PUBLISHED_TO = 8;
  private static final int UPDATES_FROM = 9;
  private static final String SNAPSHOTS_TO = "snapshots_to"; // this and what follows: objects, by filter
  private static final String SNAPSHOTS_LOG = "snapshots_log";
  private static final String COMPLETE_SINCE = "complete_since_ms";
  private static final String SNAPSHOTS_TOPIC = "snapshots_topic";
  private static final long ABSENT = -1;

  private final long[] values = new long[FIELDS.length]; // by FIELDS
  private final Map<String, Map<String, Long>> numbers =
      Map.of(SNAPSHOTS_TO, new HashMap<>(), SNAPSHOTS_LOG, new HashMap<>(), COMPLETE_SINCE, new HashMap<>());
  private final Map<String, String> snapshotsTopic = new HashMap<>();
  private String wrong; // a member that is there for updates, and isn't as it should be; null: none

  private Watermark() {
    Arrays.fill(values, ABSENT);
  }

  /**
   * A value of the topic of watermarks.
   *
   * @throws UnknownFormatException if it is of a version this library doesn't know: update it
   * @throws MalformedException if it isn't a JSON object with the members of a watermark
   */
  public static Watermark parse(byte[] json) throws RefusedException {
    if (json.length > BYTES_MAX) {
      throw new MalformedException("watermark: " + json.length + " bytes; at most " + BYTES_MAX);
    }
    Watermark watermark = new Watermark();
    long[] values = watermark.values;
    boolean[] given = new boolean[FIELDS.length];
    // From bytes the parser would take a byte order mark, and other encodings.
    try (JsonParser parser = JSON.createParser(new String(json, StandardCharsets.UTF_8))) {
      watermark.read(parser, given);
    } catch (RefusedException refused) {
      throw refused;
    } catch (IOException notJson) {
      throw new MalformedException("watermark: " + notJson.getMessage(), notJson);
    }
    if (given[0] && values[0] != VERSION) {
      throw new UnknownFormatException("watermark: version " + values[0] + "; this reader knows " + VERSION);
    }
    for (int i = 0; i < REQUIRED; ++i) {
      if (!given[i]) {
        throw new MalformedException("watermark: " + FIELDS[i] + ": missing");
      }
    }
    if (values[1] < 0 || values[1] > Integer.MAX_VALUE) {
      throw new MalformedException("watermark: partition " + values[1] + " is none");
    }
    return watermark;
  }

  private void read(JsonParser parser, boolean[] given) throws IOException {
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      throw new MalformedException("watermark: not a JSON object");
    }
    for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
      JsonToken token = parser.nextToken();
      int field = 0;
      while (field < FIELDS.length && !FIELDS[field].equals(name)) {
        ++field;
      }
      if (numbers.containsKey(name) || name.equals(SNAPSHOTS_TOPIC)) {
        readByFilter(parser, name);
      } else if (field == FIELDS.length) {
        parser.skipChildren();
      } else if (field >= REQUIRED) {
        values[field] = number(parser, name, field == GENERATION ? 1 : 0);
      } else if (token == JsonToken.VALUE_NUMBER_INT) {
        values[field] = parser.getLongValue();
        given[field] = true;
      } else {
        throw new MalformedException("watermark: " + name + ": not a whole number");
      }
    }
    if (parser.currentToken() != JsonToken.END_OBJECT || parser.nextToken() != null) {
      throw new MalformedException("watermark: more than one JSON object, or less");
    }
  }

  private void readByFilter(JsonParser parser, String name) throws IOException {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      noteUnlessNull(parser, name);
      return;
    }
    for (String filter = parser.nextFieldName(); filter != null; filter = parser.nextFieldName()) {
      JsonToken token = parser.nextToken();
      if (!name.equals(SNAPSHOTS_TOPIC)) {
        long number = number(parser, name, 0);
        if (number != ABSENT) {
          numbers.get(name).put(filter, number);
        }
      } else if (token == JsonToken.VALUE_STRING) {
        snapshotsTopic.put(filter, parser.getText());
      } else {
        noteUnlessNull(parser, name);
      }
    }
  }

  private long number(JsonParser parser, String name, long min) throws IOException {
    boolean fits = parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER && parser.getLongValue() >= min;
    if (fits) {
      return parser.getLongValue();
    }
    noteUnlessNull(parser, name);
    return ABSENT;
  }

  /** Who reads no updates must not mind what these members are. So a wrong one is only noted; null is absent. */
  private void noteUnlessNull(JsonParser parser, String name) throws IOException {
    if (parser.currentToken() != JsonToken.VALUE_NULL) {
      wrong = name;
      parser.skipChildren();
    }
  }

  /** For one who reads updates: the members that are there for them must be right. */
  Watermark forUpdates() throws MalformedException {
    if (wrong != null) {
      String what = wrong.equals(SNAPSHOTS_TOPIC) ? "not an object of strings"
          : (numbers.containsKey(wrong) ? "not an object of whole numbers" : "not a whole number") + " in its range";
      throw new MalformedException("watermark: " + wrong + ": " + what);
    }
    return this;
  }

  /** The input partition. */
  public int partition() {
    return (int) values[1];
  }

  /** The greatest Kafka timestamp read from the partition. */
  public Instant partitionTime() {
    return Instant.ofEpochMilli(values[2]);
  }

  /** Every record of the partition below it has been read. */
  public long nextOffset() {
    return values[3];
  }

  /** How many records are there to read. */
  public long lagMessages() {
    return values[4];
  }

  /** How many users' snapshots are still to be sent, or acknowledged. */
  public long unpublishedUsers() {
    return values[5];
  }

  /** When this was written, by the daemon's clock. */
  public Instant heartbeat() {
    return Instant.ofEpochMilli(values[6]);
  }

  /** Of the partition's state; empty if the daemon publishes no updates. */
  public OptionalLong generation() {
    return optional(values[GENERATION]);
  }

  /** Each change below this input offset is in a snapshot that the brokers have. Empty: not known. */
  public OptionalLong publishedTo() {
    return optional(values[PUBLISHED_TO]);
  }

  /** Where the filter's topic of snapshots ended in this partition when {@link #publishedTo} became true. */
  public OptionalLong snapshotsTo(String filter) {
    return optional(numbers.get(SNAPSHOTS_TO).getOrDefault(filter, ABSENT));
  }

  /** The name of the filter's topic of snapshots. */
  public Optional<String> snapshotsTopic(String filter) {
    return Optional.ofNullable(snapshotsTopic.get(filter));
  }

  /** A number of the log that this partition of the filter's snapshots is. It changes with a topic created again. */
  public long snapshotsLog(String filter) {
    return numbers.get(SNAPSHOTS_LOG).getOrDefault(filter, 0L);
  }

  /** What was shown before this time, in ms since 1970, may be missing. Empty: none is named. */
  public OptionalLong completeSinceMs(String filter) {
    return optional(numbers.get(COMPLETE_SINCE).getOrDefault(filter, ABSENT));
  }

  /** Where in this partition of the updates to begin: what stands before it, snapshots have. Empty: at the start. */
  public OptionalLong updatesFrom() {
    return optional(values[UPDATES_FROM]);
  }

  private static OptionalLong optional(long value) {
    return value == ABSENT ? OptionalLong.empty() : OptionalLong.of(value);
  }

  /** Up to when all is known: the heartbeat where nothing is left to read, else how far reading has come. */
  public Instant asOf() {
    return Instant.ofEpochMilli(values[4] == 0 ? values[6] : Math.min(values[2], values[6]));
  }

  /** How long before {@code now} that is; never below zero. It grows when the daemon has died. */
  public Duration staleBy(Instant now) {
    return staleBy(asOf(), now);
  }

  static Duration staleBy(Instant asOf, Instant now) {
    Duration age = Duration.between(asOf, now);
    return age.isNegative() ? Duration.ZERO : age;
  }

  @Override
  public String toString() {
    return "watermark of partition " + partition() + " as of " + asOf() + ", lag " + lagMessages();
  }
}
