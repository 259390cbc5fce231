package io.seen.examples;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.StringWriter;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks seend which items are unseen; of several daemons the one that owns the user's partition. One for the whole
 * program: it keeps its connections. Any thread.
 */
final class SeenHttp implements AutoCloseable {
  private static final JsonFactory JSON = new JsonFactory();
  private static final int DAEMONS_MAX = 3; // asked about one question

  private final HttpClient client;
  private final Owners owners;
  private final String users;
  private final Duration timeout;

  /**
   * {@code addresses}: of some daemons of one group, with commas. {@code timeout}: for the whole of a question,
   * connecting and asking again included.
   */
  SeenHttp(String addresses, String filter, Duration timeout) {
    this.client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(timeout).build();
    this.owners = new Owners(client, List.of(addresses.split(" *, *")));
    this.users = "/v1/filters/" + segment(filter) + "/users/";
    this.timeout = timeout;
  }

  /** What is unseen, and the name of the daemon that said so (null: it didn't give one). */
  static final class Unseen {
    final List<String> items;
    final String by;

    private Unseen(List<String> items, String by) {
      this.items = items;
      this.by = by;
    }
  }

  /** No routes are read any more. */
  @Override
  public void close() {
    owners.close();
  }

  Owners owners() {
    return owners;
  }

  /** Throws if no answer came in time, or none that helps: the daemons are away, or still catching up (503). */
  Unseen unseen(String user, List<String> items, List<String> alsoSeen) throws IOException {
    String question = question(items, alsoSeen);
    long end = System.nanoTime() + timeout.toNanos();
    List<Daemon> daemons = owners.whomToAsk(user);
    int last = Math.min(DAEMONS_MAX, daemons.size()) - 1;
    List<String> problems = new ArrayList<>();
    for (int i = 0; i <= last; ++i) {
      Daemon daemon = daemons.get(i);
      long left = end - System.nanoTime();
      if (left <= 0) {
        break;
      }
      // Each but the last may take half of the time that is left: so there is time to ask another one.
      long deadline = System.nanoTime() + (i == last ? left : left / 2);
      HttpResponse<String> answer;
      try {
        answer = ask(daemon.address + users + segment(user) + "/unseen", question, deadline);
      } catch (IOException away) {
        if (Thread.currentThread().isInterrupted()) {
          throw away;
        }
        owners.failed(daemon);
        problems.add(daemon + ": " + away);
        continue;
      }
      String by = answer.headers().firstValue("Seen-Answered-By").orElse(null);
      if (answer.statusCode() >= 500 || !daemon.instance.isEmpty() && !daemon.instance.equals(by)) {
        owners.refresh(); // the partition may have moved
      }
      if (answer.statusCode() == 200) {
        return new Unseen(readUnseen(answer.body()), by);
      }
      problems.add(daemon + ": status " + answer.statusCode() + ": " + answer.body().trim());
      if (answer.statusCode() < 500) {
        break; // the question is wrong, for all of them
      }
    }
    throw new IOException("no answer within " + timeout.toMillis() + " ms: " + String.join("; ", problems));
  }

  private HttpResponse<String> ask(String address, String question, long deadline) throws IOException {
    // A daemon that passes the question on stops before this one does: its 503 says that it is there itself.
    long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    HttpRequest request = HttpRequest.newBuilder(URI.create(address))
        .header("Seen-Deadline-Ms", String.valueOf(Math.max(1, leftMs * 3 / 4)))
        .POST(BodyPublishers.ofString(question))
        .build();
    try {
      return send(request, deadline);
    } catch (HttpTimeoutException tooLate) {
      throw tooLate;
    } catch (ConnectException nobodyThere) {
      throw nobodyThere;
    } catch (IOException perhapsClosedWhileIdle) { // a kept connection may end at any time: once more on a new one
      return send(request, deadline);
    }
  }

  private HttpResponse<String> send(HttpRequest request, long deadline) throws IOException {
    CompletableFuture<HttpResponse<String>> answer = client.sendAsync(request, BodyHandlers.ofString());
    try {
      return answer.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException tooLate) {
      throw new HttpTimeoutException("too late");
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof IOException
          ? (IOException) failed.getCause()
          : new IOException(failed.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", stopped);
    } finally {
      answer.cancel(true);
    }
  }

  /** Percent-encoded as one segment of an address. */
  private static String segment(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static String question(List<String> items, List<String> alsoSeen) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.writeStartObject();
      json.writeFieldName("items");
      json.writeArray(items.toArray(new String[0]), 0, items.size());
      json.writeFieldName("also_seen");
      json.writeArray(alsoSeen.toArray(new String[0]), 0, alsoSeen.size());
      json.writeEndObject();
    }
    return text.toString();
  }

  private static List<String> readUnseen(String body) throws IOException {
    List<String> unseen = new ArrayList<>();
    try (JsonParser json = JSON.createParser(body)) {
      if (json.nextToken() != JsonToken.START_OBJECT
          || !"unseen".equals(json.nextFieldName())
          || json.nextToken() != JsonToken.START_ARRAY) {
        throw new IOException("not the answer to `unseen`: " + body);
      }
      while (json.nextToken() == JsonToken.VALUE_STRING) {
        unseen.add(json.getText());
      }
    }
    return unseen;
  }
}
