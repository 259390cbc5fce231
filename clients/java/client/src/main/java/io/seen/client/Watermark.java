package io.seen.client;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;

/** How far the daemon has come with one input partition, as it says once a second. Immutable. */
public final class Watermark {
  private static final JsonFactory JSON = new JsonFactory();
  private static final int VERSION = 1;
  private static final int BYTES_MAX = 65_536;
  private static final String[] FIELDS = {
    "version", "partition", "partition_time_ms", "next_offset", "lag_messages", "unpublished_users", "heartbeat_ms"
  };

  private final long[] values; // by FIELDS

  private Watermark(long[] values) {
    this.values = values;
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
    long[] values = new long[FIELDS.length];
    boolean[] given = new boolean[FIELDS.length];
    // From bytes the parser would take a byte order mark, and other encodings.
    try (JsonParser parser = JSON.createParser(new String(json, StandardCharsets.UTF_8))) {
      read(parser, values, given);
    } catch (RefusedException refused) {
      throw refused;
    } catch (IOException notJson) {
      throw new MalformedException("watermark: " + notJson.getMessage(), notJson);
    }
    if (given[0] && values[0] != VERSION) {
      throw new UnknownFormatException("watermark: version " + values[0] + "; this reader knows " + VERSION);
    }
    for (int i = 0; i < FIELDS.length; ++i) {
      if (!given[i]) {
        throw new MalformedException("watermark: " + FIELDS[i] + ": missing");
      }
    }
    if (values[1] < 0 || values[1] > Integer.MAX_VALUE) {
      throw new MalformedException("watermark: partition " + values[1] + " is none");
    }
    return new Watermark(values);
  }

  private static void read(JsonParser parser, long[] values, boolean[] given) throws IOException {
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      throw new MalformedException("watermark: not a JSON object");
    }
    for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
      JsonToken token = parser.nextToken();
      int field = 0;
      while (field < FIELDS.length && !FIELDS[field].equals(name)) {
        ++field;
      }
      if (field == FIELDS.length) {
        parser.skipChildren();
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
