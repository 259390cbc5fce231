package io.seen.examples;

import io.seen.client.Snapshot;
import io.seen.examples.Request.Answer;
import java.io.IOException;
import java.time.Duration;

/**
 * Asks seend over HTTP for each request; where it can't answer in time, shows rather than fails. Of several daemons it
 * asks the one that owns the user's partition, and names the one that answered.
 */
final class HttpExample {
  private static final String USAGE = Request.USAGE
      + "\n  --http        http://127.0.0.1:8080   seend's address, or several with commas"
      + "\n  --filter      default                 which of its filters"
      + "\n  --timeout-ms  50                      how long a request waits for it";

  private HttpExample() {}

  public static void main(String[] arguments) throws IOException {
    Flags flags = new Flags(USAGE, arguments);
    Duration timeout = Duration.ofMillis(flags.number("--timeout-ms"));
    try (SeenHttp http = new SeenHttp(flags.text("--http"), flags.text("--filter"), timeout)) {
      Request.answerAll(request -> unseen(http, request));
    }
  }

  private static Answer unseen(SeenHttp http, Request request) {
    try {
      SeenHttp.Unseen unseen = http.unseen(request.user, request.items, request.alsoSeen);
      return new Answer(unseen.by == null ? "http" : "http: " + unseen.by, unseen.items);
    } catch (IOException away) {
      System.err.println("shown without asking: " + away); // count these: users see items twice
      return new Answer("own list", Snapshot.empty().alsoSeen(request.alsoSeen).unseen(request.items));
    }
  }
}
