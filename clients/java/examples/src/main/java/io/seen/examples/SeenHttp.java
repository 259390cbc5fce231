package io.seen.examples;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.StringWriter;
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

/** Asks seend which items are unseen. One for the whole program: it keeps its connections. Any thread. */
final class SeenHttp {
  private static final JsonFactory JSON = new JsonFactory();

  private final HttpClient client;
  private final String users;
  private final Duration timeout;

  /** {@code timeout}: for the whole of a question, connecting and asking again included. */
  SeenHttp(String address, String filter, Duration timeout) {
    this.client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(timeout).build();
    this.users = address + "/v1/filters/" + segment(filter) + "/users/";
    this.timeout = timeout;
  }

  /** Throws if no answer came in time, or none that helps: the daemon is away, or still catching up (503). */
  List<String> unseen(String user, List<String> items, List<String> alsoSeen) throws IOException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(users + segment(user) + "/unseen"))
        .POST(BodyPublishers.ofString(question(items, alsoSeen)))
        .build();
    long deadline = System.nanoTime() + timeout.toNanos();
    HttpResponse<String> answer;
    try {
      answer = send(request, deadline);
    } catch (HttpTimeoutException tooLate) {
      throw tooLate;
    } catch (IOException perhapsClosedWhileIdle) { // a kept connection may end at any time: once more on a new one
      answer = send(request, deadline);
    }
    if (answer.statusCode() != 200) {
      throw new IOException("status " + answer.statusCode() + ": " + answer.body().trim());
    }
    return readUnseen(answer.body());
  }

  private HttpResponse<String> send(HttpRequest request, long deadline) throws IOException {
    CompletableFuture<HttpResponse<String>> answer = client.sendAsync(request, BodyHandlers.ofString());
    try {
      return answer.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException tooLate) {
      throw new HttpTimeoutException("no answer within " + timeout.toMillis() + " ms");
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
