package io.seen.examples;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Knows whom to ask about a user. It reads the routes on a thread of its own: nobody waits for it. Any thread. */
final class Owners implements AutoCloseable {
  private static final Duration REFRESH_EVERY = Duration.ofSeconds(10); // routes are read again
  static final Duration REFRESH_PAUSE = Duration.ofSeconds(1); // and no sooner than this, however much goes wrong
  private static final Duration FETCH_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration AWAY = Duration.ofSeconds(1); // a daemon that didn't answer is asked last for so long

  private final HttpClient client;
  private final List<String> given;
  private volatile Routes routes = Routes.NONE;
  private final Map<String, Long> awayUntil = new ConcurrentHashMap<>(); // by address; System.nanoTime()
  private final AtomicInteger turn = new AtomicInteger();
  private final BlockingQueue<Boolean> wanted = new ArrayBlockingQueue<>(1); // has one if the routes seem to be old
  private final Thread reader = new Thread(this::readAgainAndAgain, "owners");

  /** {@code addresses}: of some daemons of one group, or of a load balancer. One that answers is enough. */
  Owners(HttpClient client, List<String> addresses) {
    this.client = client;
    this.given = addresses;
    refresh();
    reader.setDaemon(true);
    reader.start();
  }

  /** The owner, then its replicas, then the others, which pass a request on. Those that are away come last. */
  List<Daemon> whomToAsk(String user) {
    Routes known = routes;
    List<Daemon> daemons = new ArrayList<>(known.of(user));
    if (daemons.isEmpty() && !known.addresses().isEmpty()) {
      refresh();
    }
    daemons.addAll(allBut(daemons, known));
    return awayLast(daemons);
  }

  /** It didn't answer. */
  void failed(Daemon daemon) {
    awayUntil.put(daemon.address, System.nanoTime() + AWAY.toNanos());
    refresh();
  }

  /** The routes seem to be old. Returns at once. */
  void refresh() {
    wanted.offer(true);
  }

  Routes routes() {
    return routes;
  }

  @Override
  public void close() {
    reader.interrupt();
  }

  /** Those that the routes name were alive a moment ago: they come first. They take turns. */
  private List<Daemon> allBut(List<Daemon> listed, Routes known) {
    Set<String> addresses = new HashSet<>();
    listed.forEach(daemon -> addresses.add(daemon.address));
    List<Daemon> others = new ArrayList<>();
    int now = turn.getAndIncrement();
    for (Collection<String> more : List.of(known.addresses(), given)) {
      List<Daemon> added = new ArrayList<>();
      for (String address : more) {
        if (addresses.add(address)) {
          added.add(new Daemon(address, ""));
        }
      }
      Collections.rotate(added, now);
      others.addAll(added);
    }
    return others;
  }

  private List<Daemon> awayLast(List<Daemon> daemons) {
    long now = System.nanoTime();
    Set<String> away = new HashSet<>();
    awayUntil.forEach((address, until) -> {
      if (until - now > 0) {
        away.add(address);
      }
    });
    daemons.sort(Comparator.comparing(daemon -> away.contains(daemon.address)));
    return daemons;
  }

  private void readAgainAndAgain() {
    try {
      while (true) {
        wanted.poll(REFRESH_EVERY.toNanos(), TimeUnit.NANOSECONDS);
        read();
        TimeUnit.NANOSECONDS.sleep(REFRESH_PAUSE.toNanos());
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private void read() throws InterruptedException {
    for (Daemon daemon : awayLast(allBut(List.of(), routes))) {
      HttpRequest request = HttpRequest.newBuilder(URI.create(daemon.address + "/v1/routes")).timeout(FETCH_TIMEOUT).build();
      try {
        HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
        Routes read = answer.statusCode() == 200 ? Routes.parse(answer.body()) : Routes.NONE;
        if (!read.addresses().isEmpty()) { // else it has heard nobody: what was known is better
          routes = read;
          return;
        }
      } catch (IOException away) {
        // The next one may know.
      }
    }
  }
}
