package io.seen.examples;

import java.util.HashMap;
import java.util.Map;

/** --name value pairs; a name that isn't known ends the program with its usage. */
final class Flags {
  private final Map<String, String> values;

  /** {@code usage}: a line for each flag, {@code --name default meaning}. */
  Flags(String usage, String[] arguments) {
    values = new HashMap<>();
    for (String line : usage.split("\n")) {
      String[] words = line.trim().split(" +", 3);
      if (words[0].startsWith("--")) {
        values.put(words[0], words[1]);
      }
    }
    for (int i = 0; i < arguments.length; i += 2) {
      if (!values.containsKey(arguments[i]) || i + 1 == arguments.length) {
        System.err.println(usage);
        System.exit(arguments[i].equals("--help") ? 0 : 2);
      }
      values.put(arguments[i], arguments[i + 1]);
    }
  }

  String text(String name) {
    return values.get(name);
  }

  int number(String name) {
    return Integer.parseInt(values.get(name));
  }
}
