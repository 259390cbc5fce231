package seen.bench.flink;

import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import seen.bench.Answers;
import seen.bench.Exposure;
import seen.bench.Progress;

/**
 * What both variants share: a user's filter goes out as (user id, value), and to the answers when the job is
 * drained.
 */
abstract class Variant extends KeyedProcessFunction<String, Exposure, Tuple2<byte[], byte[]>> {
  /** Constants of a run. `sample`: users whose answers are wanted at the end. */
  record Settings(int windowDays, double falsePositiveRate, boolean publishes, List<String> sample,
      String answers) implements java.io.Serializable {}

  private static final long END_OF_INPUT = Long.MAX_VALUE - 1;

  final Settings settings;
  transient Progress progress;
  private transient Set<String> sample;
  private transient Answers answers;

  Variant(Settings settings) {
    this.settings = settings;
  }

  void start() {
    progress = Progress.applying();
    sample = new HashSet<>(settings.sample());
    answers = new Answers(settings.answers());
  }

  /** Draining fires it, in whichever life of the job that is. */
  void askedAtTheEnd(Exposure exposure, Context context) {
    if (!sample.isEmpty() && sample.contains(exposure.user)) {
      context.timerService().registerEventTimeTimer(END_OF_INPUT);
    }
  }

  boolean isEnd(long timestamp, OnTimerContext context) {
    return timestamp == END_OF_INPUT;
  }

  void answer(String user, String kind, byte[] filter) throws IOException {
    answers.write(user, kind, filter);
  }

  StateTtlConfig timeToLive() {
    return StateTtlConfig.newBuilder(Duration.ofDays(settings.windowDays()))
        .setUpdateType(StateTtlConfig.UpdateType.OnCreateAndWrite)
        .setStateVisibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
        .cleanupInRocksdbCompactFilter(1000, Duration.ofDays(1))
        .build();
  }

  static void emit(Collector<Tuple2<byte[], byte[]>> out, String user, byte[] value) {
    out.collect(Tuple2.of(user.getBytes(java.nio.charset.StandardCharsets.UTF_8), value));
  }
}
