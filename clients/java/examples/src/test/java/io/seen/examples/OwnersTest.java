package io.seen.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.seen.client.Partitioner;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OwnersTest {
  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  /** A daemon whose answers change. */
  private final class Fake {
    final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    final String address = "127.0.0.1:" + server.getAddress().getPort();
    final String itself;
    final AtomicInteger questions = new AtomicInteger();
    final AtomicInteger routesRead = new AtomicInteger();
    volatile String name;
    volatile String routes = "";
    volatile int status = 200;
    volatile int afterMs;

    Fake(String name) throws IOException {
      this.itself = name;
      this.name = name;
      ExecutorService threads = Executors.newCachedThreadPool();
      server.setExecutor(threads);
      server.createContext("/v1/routes", exchange -> {
        routesRead.incrementAndGet();
        send(exchange, 200, routes);
      });
      server.createContext("/v1/filters/default/users/u/unseen", exchange -> {
        questions.incrementAndGet();
        try {
          Thread.sleep(afterMs);
        } catch (InterruptedException ended) {
          return;
        }
        send(exchange, status, "{\"unseen\":[\"" + itself + "\"]}");
      });
      server.start();
      open.add(() -> {
        server.stop(0);
        threads.shutdownNow();
      });
    }

    private void send(HttpExchange exchange, int status, String body) throws IOException {
      exchange.getRequestBody().readAllBytes();
      exchange.getResponseHeaders().set("Seen-Answered-By", name);
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    }

    private String route(int partition) {
      return String.format("{\"partition\":%d,\"instance\":\"%s\",\"address\":\"%s\",\"state\":\"ready\"}",
          partition, itself, address);
    }
  }

  /** The first owns the partition of "u", the second one the other partition. */
  private static void route(Fake owner, Fake other) {
    int mine = Partitioner.MURMUR2.partition("u", 2);
    owner.routes = String.format("{\"partitioner\":\"murmur2\",\"partitions\":2,\"routes\":[%s,%s]}",
        owner.route(mine), other.route(1 - mine));
    other.routes = owner.routes;
  }

  private SeenHttp client(int timeoutMs, String... addresses) {
    String list = "http://" + String.join(", http://", addresses);
    SeenHttp client = new SeenHttp(list, "default", Duration.ofMillis(timeoutMs));
    open.add(client);
    return client;
  }

  private static SeenHttp.Unseen ask(SeenHttp client) throws IOException {
    return client.unseen("u", List.of(), List.of());
  }

  private static void until(Callable<Boolean> condition) throws Exception {
    for (long end = System.nanoTime() + 10_000_000_000L; !condition.call(); Thread.sleep(10)) {
      assertTrue(System.nanoTime() < end);
    }
  }

  private static long tookMs(Callable<?> work) throws Exception {
    long begin = System.nanoTime();
    work.call();
    return (System.nanoTime() - begin) / 1_000_000;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Test
  void theOwnerIsAskedAndTheOthersWhereItIsAwayOrHasChanged() throws Exception {
    Fake a = new Fake("a");
    Fake b = new Fake("b");
    route(b, a);
    SeenHttp client = client(5_000, "127.0.0.1:" + freePort(), a.address); // b is known by the routes alone
    until(() -> ask(client).by.equals("b"));
    int asked = a.questions.get();
    for (int i = 0; i < 20; ++i) {
      SeenHttp.Unseen unseen = ask(client);
      assertEquals("b", unseen.by);
      assertEquals(List.of("b"), unseen.items);
    }
    assertEquals(asked, a.questions.get(), "nobody but the owner is asked");

    // The partition moves: b passes questions on.
    route(a, b);
    b.name = "a";
    until(() -> ask(client).items.equals(List.of("a")));
    b.name = "b";

    // The owner says that it isn't ready, then it is silent: another one answers, and few routes are read.
    int read = a.routesRead.get() + b.routesRead.get();
    a.status = 503;
    long took = tookMs(() -> {
      for (int i = 0; i < 50; ++i) {
        assertEquals("b", ask(client).by);
      }
      return null;
    });
    int more = a.routesRead.get() + b.routesRead.get() - read;
    assertTrue(more <= 1 + took / Owners.REFRESH_PAUSE.toMillis(), more + " in " + took + " ms");
    SeenHttp quick = client(2_000, a.address, b.address);
    until(() -> quick.owners().routes().addresses().size() == 2);
    ask(quick);
    a.afterMs = 3_000;
    int slow = 0;
    for (int i = 0; i < 10; ++i) {
      long ms = tookMs(() -> {
        assertEquals("b", ask(quick).by);
        return null;
      });
      assertTrue(ms < 2_000, ms + " ms");
      slow += ms > 900 ? 1 : 0;
    }
    assertTrue(slow <= 5, "the one that is silent is asked last for a while");
  }

  @Test
  void nobodyWaitsForTheRoutes() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      SeenHttp client = client(100, "127.0.0.1:" + silent.getLocalPort());
      long took = tookMs(() -> assertThrows(IOException.class, () -> ask(client)));
      assertTrue(took < 1_000, took + " ms");
    }
  }
}
