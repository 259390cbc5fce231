package seen.bench.flink;

import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.util.Collector;
import seen.bench.BloomChain;
import seen.bench.DayChains;
import seen.bench.Exposure;

/**
 * Variant A: a Bloom filter a user-day, read, changed and written back; the user's filter goes out on each
 * change.
 */
final class DayFilters extends Variant {
  private transient MapState<Integer, byte[]> days;
  private transient BloomChain filters;
  private transient DayChains chains;

  DayFilters(Settings settings) {
    super(settings);
  }

  @Override
  public void open(OpenContext context) {
    start();
    var descriptor =
        new MapStateDescriptor<>("days", Types.INT, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
    descriptor.enableTimeToLive(timeToLive());
    days = getRuntimeContext().getMapState(descriptor);
    filters = new BloomChain(settings.falsePositiveRate() / settings.windowDays());
    chains = new DayChains();
  }

  @Override
  public void processElement(Exposure exposure, Context context, Collector<Tuple2<byte[], byte[]>> out)
      throws Exception {
    int day = exposure.day();
    if (settings.publishes()) {
      publishChanged(exposure, day, out);
    } else {
      days.put(day, filters.add(days.get(day), exposure.items, exposure.count));
    }
    askedAtTheEnd(exposure, context);
    progress.count(exposure.count, exposure.partition, exposure.offset);
  }

  /** One scan of the user's days serves both: the day to change and the others that go out with it. */
  private void publishChanged(Exposure exposure, int day, Collector<Tuple2<byte[], byte[]>> out)
      throws Exception {
    chains.clear();
    byte[] changed = null;
    for (Map.Entry<Integer, byte[]> entry : days.entries()) {
      if (entry.getKey() == day) {
        changed = entry.getValue();
      } else if (entry.getKey() > day - settings.windowDays()) {
        chains.append(entry.getKey(), entry.getValue());
      }
    }
    changed = filters.add(changed, exposure.items, exposure.count);
    days.put(day, changed);
    emit(out, exposure.user, chains.append(day, changed).covering(exposure.partition, exposure.offset));
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple2<byte[], byte[]>> out)
      throws Exception {
    if (!isEnd(timestamp, context))
      return;
    chains.clear();
    for (Map.Entry<Integer, byte[]> entry : days.entries()) chains.append(entry.getKey(), entry.getValue());
    answer(context.getCurrentKey(), "bloom", chains.covering(-1, -1));
  }
}
