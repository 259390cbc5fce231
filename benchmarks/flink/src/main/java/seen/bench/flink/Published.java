package seen.bench.flink;

import java.util.Properties;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.kafka.clients.producer.ProducerRecord;
import seen.bench.Arguments;

/**
 * The compacted topic of filters. At least once: a checkpoint waits for what it covers to be acknowledged.
 */
final class Published implements KafkaRecordSerializationSchema<Tuple2<byte[], byte[]>> {
  private final String topic;

  private Published(String topic) {
    this.topic = topic;
  }

  static KafkaSink<Tuple2<byte[], byte[]>> sink(Arguments arguments) {
    Properties producer = new Properties();
    producer.put("acks", "all");
    producer.put("enable.idempotence", "true");
    producer.put("linger.ms", arguments.text("linger_ms", "5"));
    producer.put("batch.size", arguments.text("batch_size", "131072"));
    producer.put("buffer.memory", "67108864");
    return KafkaSink.<Tuple2<byte[], byte[]>>builder()
        .setBootstrapServers(arguments.text("brokers"))
        .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .setKafkaProducerConfig(producer)
        .setRecordSerializer(new Published(arguments.text("output")))
        .build();
  }

  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      Tuple2<byte[], byte[]> filter, KafkaSinkContext context, Long timestamp) {
    return new ProducerRecord<>(topic, filter.f0, filter.f1);
  }
}
