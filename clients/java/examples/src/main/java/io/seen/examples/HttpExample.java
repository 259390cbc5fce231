package io.seen.examples;

import io.seen.client.Snapshot;
import io.seen.examples.Request.Answer;
import java.io.IOException;
import java.time.Duration;

/** Asks seend over HTTP for each request; where it can't answer in time, shows rather than fails. */
final class HttpExample {
  private static final String USAGE = Request.USAGE
      + "\n  --http        http://127.0.0.1:8080   seend's address"
      + "\n  --filter      default                 which of its filters"
      + "\n  --timeout-ms  50                      how long a request waits for it";

  private HttpExample() {}

  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(USAGE, arguments);
    Duration timeout = Duration.ofMillis(flags.number("--timeout-ms"));
    SeenHttp http = new SeenHttp(flags.text("--http"), flags.text("--filter"), timeout);
    Request.answerAll(request -> unseen(http, request));
  }

  private static Answer unseen(SeenHttp http, Request request) {
    try {
      return new Answer("http", http.unseen(request.user, request.items, request.alsoSeen));
    } catch (IOException away) {
      System.err.println("shown without asking: " + away); // count these: users see items twice
      return new Answer("own list", Snapshot.empty().alsoSeen(request.alsoSeen).unseen(request.items));
    }
  }
}
