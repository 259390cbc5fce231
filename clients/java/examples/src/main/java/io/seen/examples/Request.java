package io.seen.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;

/** One page of recommendations to be filtered, as these examples take it: {@code user item item ... [/ item ...]}. */
final class Request {
  static final String USAGE =
      "Reads requests from standard input, a line each: the user, the candidates, and behind a slash the items that\n"
          + "this request has shown already. Answers with a line: by what it was decided, a tab, the unseen.\n";

  final String user;
  final List<String> items;
  final List<String> alsoSeen;

  private Request(String user, List<String> items, List<String> alsoSeen) {
    this.user = user;
    this.items = items;
    this.alsoSeen = alsoSeen;
  }

  private static Request parse(String line) {
    List<String> words = List.of(line.trim().split(" +"));
    int slash = words.contains("/") ? words.indexOf("/") : words.size();
    int rest = Math.min(words.size(), slash + 1);
    return new Request(words.get(0), words.subList(1, Math.max(1, slash)), words.subList(rest, words.size()));
  }

  /** Answers each line of standard input until it ends. */
  static void answerAll(Function<Request, Answer> answer) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (!line.isBlank()) {
        out.println(answer.apply(parse(line)));
      }
    }
  }

  /** What is left of the candidates, and who said so. */
  static final class Answer {
    private final String by;
    private final List<String> unseen;

    Answer(String by, List<String> unseen) {
      this.by = by;
      this.unseen = unseen;
    }

    @Override
    public String toString() {
      return by + "\t" + String.join(" ", unseen);
    }
  }
}
