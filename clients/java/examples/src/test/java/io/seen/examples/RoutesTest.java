package io.seen.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.seen.client.Partitioner;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class RoutesTest {

  private static String route(int partition, String address, String state, String more) {
    return String.format(
        "{\"partition\":%d,\"instance\":\"of-%s\",\"address\":\"%s\",\"state\":\"%s\",\"lag_messages\":0%s}",
        partition, address, address, state, more);
  }

  private static String answer(String partitioner, int partitions, String... routes) {
    return String.format(
        "{\"topic\":\"t\",\"partitioner\":\"%s\",\"partitions\":%d,\"later\":{\"is\":[1]},\"routes\":[%s]}",
        partitioner, partitions, String.join(",", routes));
  }

  private static List<String> of(Routes routes, String user) {
    return routes.of(user).stream().map(daemon -> daemon.instance + " " + daemon.address).collect(Collectors.toList());
  }

  @Test
  void theReadyOwnerGoesBeforeReadyReplicas() throws IOException {
    String replica = ",\"role\":\"replica\"";
    Routes routes = Routes.parse(answer("murmur2", 3,
        route(0, "r:1", "ready", replica),
        route(0, "o:1", "ready", ",\"role\":\"owner\""),
        route(0, "r:2", "catching_up", replica),
        route(1, "o:2", "catching_up", ""),
        route(1, "r:1", "ready", replica),
        "{\"partition\":2,\"instance\":\"o3\",\"address\":null,\"state\":\"ready\"}"));
    List<List<String>> expected =
        List.of(List.of("of-o:1 http://o:1", "of-r:1 http://r:1"), List.of("of-r:1 http://r:1"), List.of());
    for (int i = 0; i < 20; ++i) {
      assertEquals(expected.get(Partitioner.MURMUR2.partition("u" + i, 3)), of(routes, "u" + i));
    }
    assertEquals(4, routes.addresses().size());
  }

  @Test
  void theyGoByThePartitionerThatTheyName() throws IOException {
    String[] two = {route(0, "o:0", "ready", ""), route(1, "o:1", "ready", "")};
    Routes routes = Routes.parse(answer("crc32", 2, two));
    for (String user : List.of("u1", "u2", "用户")) {
      int partition = Partitioner.CRC32.partition(user, 2);
      assertEquals(List.of("of-o:" + partition + " http://o:" + partition), of(routes, user));
    }
    assertThrows(IOException.class, () -> Routes.parse(answer("random", 2, two)));
    assertThrows(IOException.class, () -> Routes.parse(answer("murmur2", 0, two)));
    assertThrows(IOException.class, () -> Routes.parse("[]"));
    assertEquals(List.of(), Routes.parse(answer("murmur2", 0)).of("u1"));
  }
}
