package io.seen.examples;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.seen.client.Partitioner;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** One answer of {@code GET /v1/routes}: which daemons answer for a user. It never changes. */
final class Routes {
  static final Routes NONE = new Routes(null, 0, List.of());
  private static final JsonFactory JSON = new JsonFactory();

  private final Partitioner partitioner;
  private final int partitions;
  private final Map<Integer, List<Daemon>> byPartition = new HashMap<>();
  private final Set<String> addresses = new LinkedHashSet<>();

  private Routes(Partitioner partitioner, int partitions, List<Route> routes) {
    this.partitioner = partitioner;
    this.partitions = partitions;
    for (boolean owners : new boolean[] {true, false}) { // the owner goes before its replicas
      for (Route route : routes) {
        if (route.address == null || route.role.equals("owner") != owners) {
          continue;
        }
        Daemon daemon = new Daemon("http://" + route.address, route.instance);
        addresses.add(daemon.address);
        if (route.state.equals("ready")) {
          byPartition.computeIfAbsent(route.partition, partition -> new ArrayList<>()).add(daemon);
        }
      }
    }
  }

  static Routes parse(String answer) throws IOException {
    String partitioner = "";
    int partitions = 0;
    List<Route> routes = new ArrayList<>();
    try (JsonParser json = JSON.createParser(answer)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("not the answer to `routes`: " + answer);
      }
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        json.nextToken();
        if (name.equals("partitioner")) {
          partitioner = json.getValueAsString("");
        } else if (name.equals("partitions")) {
          partitions = json.getValueAsInt();
        } else if (name.equals("routes") && json.currentToken() == JsonToken.START_ARRAY) {
          while (json.nextToken() == JsonToken.START_OBJECT) {
            routes.add(Route.read(json));
          }
        } else {
          json.skipChildren();
        }
      }
    }
    if (routes.isEmpty()) {
      return NONE;
    }
    if (partitions < 1) {
      throw new IOException("routes of " + partitions + " partitions");
    }
    try {
      return new Routes(Partitioner.valueOf(partitioner.toUpperCase(Locale.ROOT)), partitions, routes);
    } catch (IllegalArgumentException ofLaterVersion) {
      throw new IOException("partitioner " + partitioner + ": not known here", ofLaterVersion);
    }
  }

  /** The daemons that answer for the user, the owner first. Empty: no daemon is known to. */
  List<Daemon> of(String user) {
    return byPartition.isEmpty() ? List.of() : byPartition.getOrDefault(partitioner.partition(user, partitions), List.of());
  }

  /** Of all daemons that are known. */
  Set<String> addresses() {
    return addresses;
  }

  private static final class Route {
    private int partition = -1;
    private String instance = "";
    private String address;
    private String state = "";
    private String role = "owner"; // of a route without one

    private static Route read(JsonParser json) throws IOException {
      Route route = new Route();
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        String name = json.currentName();
        json.nextToken();
        switch (name) {
          case "partition":
            route.partition = json.getValueAsInt(-1);
            break;
          case "instance":
            route.instance = json.getValueAsString("");
            break;
          case "address":
            route.address = json.getValueAsString(null);
            break;
          case "state":
            route.state = json.getValueAsString("");
            break;
          case "role":
            route.role = json.getValueAsString("owner");
            break;
          default:
            json.skipChildren();
        }
      }
      return route;
    }
  }
}
