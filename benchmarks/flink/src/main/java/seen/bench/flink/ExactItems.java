package seen.bench.flink;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.util.Collector;
import seen.bench.BloomChain;
import seen.bench.DayChains;
import seen.bench.Exposure;

/**
 * Variant B: item hash -> time shown, exact, written without a read. Each user that changed goes out as one
 * Bloom filter, rendered from a scan of the items by a timer that comes once a second a user, at a phase of
 * the user's own so that not all come at once.
 */
final class ExactItems extends Variant {
  /** The newest record of a user that waits for its timer. */
  private record Position(int partition, long offset) {}

  private static final long EVERY_MS = 1000;

  private transient MapState<Long, Long> items;
  private transient DayChains value;
  private transient long[] scanned;
  private transient Map<String, Position> waiting;

  ExactItems(Settings settings) {
    super(settings);
  }

  @Override
  public void open(OpenContext context) {
    start();
    var descriptor = new MapStateDescriptor<>("items", Types.LONG, Types.LONG);
    descriptor.enableTimeToLive(timeToLive());
    items = getRuntimeContext().getMapState(descriptor);
    value = new DayChains();
    scanned = new long[256];
    waiting = new HashMap<>();
  }

  @Override
  public void processElement(Exposure exposure, Context context, Collector<Tuple2<byte[], byte[]>> out)
      throws Exception {
    for (int i = 0; i < exposure.count; i++) items.put(exposure.items[i], exposure.exposedAtMs);
    if (settings.publishes()) {
      var before = waiting.put(exposure.user, new Position(exposure.partition, exposure.offset));
      if (before == null) {
        context.timerService().registerProcessingTimeTimer(
            next(context.timerService().currentProcessingTime(), exposure.user));
        progress.pending(waiting.size());
      }
    }
    askedAtTheEnd(exposure, context);
    progress.count(exposure.count, exposure.partition, exposure.offset);
  }

  private static long next(long nowMs, String user) {
    long phase = Math.floorMod(user.hashCode(), EVERY_MS);
    long since = Math.floorMod(nowMs - phase, EVERY_MS);
    return nowMs - since + EVERY_MS;
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<Tuple2<byte[], byte[]>> out)
      throws Exception {
    int count = scan();
    String user = context.getCurrentKey();
    if (isEnd(timestamp, context)) {
      answerEnd(user, count);
      return;
    }
    // None: the timer was restored, and the record that set it is before the checkpoint.
    var newest = waiting.remove(user);
    progress.pending(waiting.size());
    value.clear().append(0, BloomChain.of(scanned, count, settings.falsePositiveRate()));
    emit(out, user,
        newest == null ? value.covering(-1, -1) : value.covering(newest.partition(), newest.offset()));
  }

  private int scan() throws Exception {
    int count = 0;
    for (long item : items.keys()) {
      if (count == scanned.length)
        scanned = java.util.Arrays.copyOf(scanned, 2 * count);
      scanned[count++] = item;
    }
    return count;
  }

  private void answerEnd(String user, int count) throws Exception {
    if (settings.publishes()) {
      byte[] filter = BloomChain.of(scanned, count, settings.falsePositiveRate());
      answer(user, "bloom", value.clear().append(0, filter).covering(-1, -1));
      return;
    }
    var hashes = java.nio.ByteBuffer.allocate(8 * count).order(java.nio.ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) hashes.putLong(scanned[i]);
    answer(user, "exact", hashes.array());
  }
}
