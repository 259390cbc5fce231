package seen.bench.streams;

import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import seen.bench.BloomChain;
import seen.bench.DayChains;
import seen.bench.Exposure;
import seen.bench.ExposureParser;
import seen.bench.Progress;

/** Variant A: a user's filters, one a day, in one value of the store: read, changed and written back. */
final class DayFilters extends ContextualProcessor<byte[], byte[], Void, Void> {
  static final String STORE = "seen";
  private static final ConcurrentHashMap<Thread, Progress> PROGRESS = new ConcurrentHashMap<>();

  private final int windowDays;
  private final BloomChain filters;
  private final DayChains chains = new DayChains();
  private final ExposureParser parser = new ExposureParser();
  private final Exposure exposure = new Exposure();

  DayFilters(int windowDays, double falsePositiveRate) {
    this.windowDays = windowDays;
    filters = new BloomChain(falsePositiveRate / windowDays);
  }

  @Override
  public void process(Record<byte[], byte[]> record) {
    Progress progress = PROGRESS.computeIfAbsent(Thread.currentThread(), thread -> Progress.applying());
    var position = context().recordMetadata().orElseThrow();
    if (record.key() == null || !parser.parse(record.value(), exposure)) {
      progress.skip(position.partition(), position.offset());
      return;
    }
    exposure.partition = position.partition();
    exposure.offset = position.offset();
    KeyValueStore<Bytes, byte[]> store = context().getStateStore(STORE);
    Bytes user = Bytes.wrap(record.key());
    int firstDay = (int) Math.floorDiv(record.timestamp(), 86_400_000L) - windowDays + 1;
    store.put(user, chains.withExposure(store.get(user), exposure, firstDay, filters));
    progress.count(exposure.count, exposure.partition, exposure.offset);
  }
}
