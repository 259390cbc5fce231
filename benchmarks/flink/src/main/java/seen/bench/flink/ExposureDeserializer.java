package seen.bench.flink;

import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import seen.bench.Exposure;
import seen.bench.ExposureParser;
import seen.bench.Progress;

/**
 * Kafka's record -> exposure, in one object that is serialized to the next task before it is filled again.
 */
final class ExposureDeserializer implements KafkaRecordDeserializationSchema<Exposure> {
  private transient ExposureParser parser;
  private transient Exposure exposure;
  private transient Progress progress;

  @Override
  public void open(DeserializationSchema.InitializationContext context) {
    parser = new ExposureParser();
    exposure = new Exposure();
    progress = Progress.reading();
  }

  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<Exposure> out) {
    if (!parser.parse(record.value(), exposure)) {
      progress.skip(record.partition(), record.offset());
      return;
    }
    exposure.partition = record.partition();
    exposure.offset = record.offset();
    out.collect(exposure);
    progress.count(exposure.count, exposure.partition, exposure.offset);
  }

  @Override
  public TypeInformation<Exposure> getProducedType() {
    return new ExposureType();
  }
}
