package seen.bench;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;

/** JSON of an exposure event, in both forms, by Jackson's streaming parser. One per thread. */
public final class ExposureParser {
  private static final JsonFactory JSON = new JsonFactory();
  private static final XXHash64 HASH = XXHashFactory.fastestJavaInstance().hash64();

  public static long hash(String item) {
    byte[] bytes = item.getBytes(StandardCharsets.UTF_8);
    return HASH.hash(bytes, 0, bytes.length, 0);
  }

  /** Fills user, time and items of `into`; false: it isn't an exposure event. */
  public boolean parse(byte[] value, Exposure into) {
    into.user = null;
    into.exposedAtMs = -1;
    into.count = 0;
    if (value == null)
      return false;
    try (JsonParser parser = JSON.createParser(value)) {
      if (parser.nextToken() != JsonToken.START_OBJECT)
        return false;
      String name;
      while ((name = parser.nextFieldName()) != null) {
        JsonToken token = parser.nextToken();
        switch (name) {
          case "user_id" -> into.user = parser.getText();
          case "exposed_at" -> into.exposedAtMs = parser.getLongValue();
          case "item_id" -> into.add(hash(parser.getText()));
          case "items" -> readItems(parser, into);
          default -> {
            if (token.isStructStart()) parser.skipChildren();
          }
        }
      }
    } catch (IOException notJson) {
      return false;
    }
    return into.user != null && into.exposedAtMs >= 0 && into.count > 0;
  }

  private static void readItems(JsonParser parser, Exposure into) throws IOException {
    JsonToken token;
    while ((token = parser.nextToken()) != JsonToken.END_ARRAY) {
      if (token == JsonToken.START_OBJECT) {
        String name;
        while ((name = parser.nextFieldName()) != null) {
          parser.nextToken();
          if (name.equals("item_id")) {
            into.add(hash(parser.getText()));
          } else {
            parser.skipChildren();
          }
        }
      } else {
        into.add(hash(parser.getText()));
      }
    }
  }
}
