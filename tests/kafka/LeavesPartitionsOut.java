import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A member of a group that, where it leads, assigns every partition but each topic's last: brokers, group, topic. */
public class LeavesPartitionsOut {
  public static class Assignor extends RangeAssignor {
    @Override
    public GroupAssignment assign(Cluster cluster, GroupSubscription members) {
      Map<String, Assignment> left = new HashMap<>();
      super.assign(cluster, members).groupAssignment().forEach((member, its) -> {
        List<TopicPartition> places = new ArrayList<>(its.partitions());
        places.removeIf(place -> place.partition() == cluster.partitionCountForTopic(place.topic()) - 1);
        left.put(member, new Assignment(places, its.userData()));
      });
      return new GroupAssignment(left);
    }
  }

  public static void main(String[] arguments) {
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Map.of(
        "bootstrap.servers", arguments[0], "group.id", arguments[1], "session.timeout.ms", "6000",
        "partition.assignment.strategy", List.of(Assignor.class), "key.deserializer", ByteArrayDeserializer.class,
        "value.deserializer", ByteArrayDeserializer.class))) {
      consumer.subscribe(List.of(arguments[2]));
      for (Set<TopicPartition> before = Set.of(); true; before = Set.copyOf(consumer.assignment())) {
        consumer.poll(Duration.ofMillis(100));
        if (!before.equals(consumer.assignment())) System.out.println("assigned " + consumer.assignment());
      }
    }
  }
}
