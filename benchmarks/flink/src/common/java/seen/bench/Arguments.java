package seen.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** `key=value` words of a command line; an absent key has the default given where it is asked for. */
public final class Arguments {
  private final Map<String, String> values = new HashMap<>();

  public Arguments(String[] words) {
    for (String word : words) {
      int at = word.indexOf('=');
      if (at < 1)
        throw new IllegalArgumentException(word + ": expected key=value");
      values.put(word.substring(0, at), word.substring(at + 1));
    }
  }

  public String text(String key) {
    String value = values.get(key);
    if (value == null)
      throw new IllegalArgumentException(key + ": missing");
    return value;
  }

  public String text(String key, String otherwise) {
    return values.getOrDefault(key, otherwise);
  }

  public boolean flag(String key) {
    return Boolean.parseBoolean(text(key, "false"));
  }

  public int number(String key, int otherwise) {
    return Integer.parseInt(text(key, Integer.toString(otherwise)));
  }

  public double fraction(String key, double otherwise) {
    return Double.parseDouble(text(key, Double.toString(otherwise)));
  }

  /** The users whose answers are wanted: lines of the file `sample`; none without the key. */
  public List<String> sample() throws IOException {
    String file = text("sample", "");
    return file.isEmpty() ? List.of() : Files.readAllLines(Path.of(file));
  }
}
