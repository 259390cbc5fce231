package seen.bench;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/** Where the input ends, and how far a group has come in it. */
public final class InputOffsets {
  public static long[] ends(Arguments arguments) throws Exception {
    try (Admin admin = admin(arguments)) {
      Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
      for (int p = 0; p < arguments.number("partitions", 4); p++) {
        asked.put(new TopicPartition(arguments.text("input"), p), OffsetSpec.latest());
      }
      long[] ends = new long[asked.size()];
      admin.listOffsets(asked).all().get().forEach((at, found) -> ends[at.partition()] = found.offset());
      return ends;
    }
  }

  /** -1 where the group has none. */
  public static long[] committed(Arguments arguments) throws Exception {
    long[] offsets = new long[arguments.number("partitions", 4)];
    java.util.Arrays.fill(offsets, -1);
    if (!arguments.flag("resume"))
      return offsets;
    try (Admin admin = admin(arguments)) {
      admin.listConsumerGroupOffsets(arguments.text("group"))
          .partitionsToOffsetAndMetadata()
          .get()
          .forEach((at, found) -> {
            if (found != null && at.topic().equals(arguments.text("input")))
              offsets[at.partition()] = found.offset();
          });
    }
    return offsets;
  }

  private static Admin admin(Arguments arguments) {
    return Admin.create(Map.of("bootstrap.servers", arguments.text("brokers")));
  }

  private InputOffsets() {}
}
