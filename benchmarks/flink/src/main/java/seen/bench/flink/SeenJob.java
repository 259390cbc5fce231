package seen.bench.flink;

import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import seen.bench.Arguments;
import seen.bench.Exposure;
import seen.bench.InputOffsets;
import seen.bench.Progress;

/** The job and its cluster in one process. Keys: the harness's, and variant=A|B, backend=rocksdb|forst|hashmap. */
public final class SeenJob {
  public static void main(String[] words) throws Exception {
    Arguments arguments = new Arguments(words);
    long[] ends = arguments.flag("bounded") ? InputOffsets.ends(arguments) : null;
    Progress.start(InputOffsets.committed(arguments));
    var settings = ClusterSettings.of(arguments);
    var environment =
        StreamExecutionEnvironment.createLocalEnvironment(arguments.number("parallelism", 2), settings);
    build(environment, arguments);

    JobClient job = environment.executeAsync("seen");
    if (!Progress.printUntil(ends, () -> runs(job))) {
      job.getJobExecutionResult().get(); // throws what ended it
      throw new IllegalStateException("the job ended by itself");
    }
    boolean publishes = !arguments.text("output", "").isEmpty();
    if (!publishes)
      done();
    // Drained: the sampled users' timers fire, the sink flushes. Stopped as a job is in practice: with a
    // savepoint.
    job.stopWithSavepoint(true, arguments.text("checkpoint_dir") + "/savepoint", SavepointFormatType.NATIVE)
        .get(5, TimeUnit.MINUTES);
    if (publishes)
      done();
    Runtime.getRuntime().halt(0); // the cluster's own shutdown is of no interest
  }

  private static void done() {
    Progress.print();
    System.out.println("done " + Progress.events());
    System.out.flush();
  }

  private static void build(StreamExecutionEnvironment environment, Arguments arguments) throws Exception {
    boolean publishes = !arguments.text("output", "").isEmpty();
    var settings = new Variant.Settings(arguments.number("window_days", 30), arguments.fraction("fpr", 0.01),
        publishes, arguments.sample(), arguments.text("answers", ""));
    KafkaSource<Exposure> source =
        KafkaSource.<Exposure>builder()
            .setBootstrapServers(arguments.text("brokers"))
            .setTopics(arguments.text("input"))
            .setGroupId(arguments.text("group"))
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setDeserializer(new ExposureDeserializer())
            .setProperty("partition.discovery.interval.ms", "-1")
            .setProperty("max.poll.records", arguments.text("max_poll_records", "5000"))
            .build();
    var filters =
        environment.fromSource(source, WatermarkStrategy.noWatermarks(), "exposures", new ExposureType())
            .uid("exposures")
            .keyBy(exposure -> exposure.user, Types.STRING)
            .process(arguments.text("variant", "A").equals("A") ? new DayFilters(settings)
                                                                : new ExactItems(settings),
                Types.TUPLE(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO,
                    PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO))
            .uid("filters");
    if (publishes) {
      filters.sinkTo(Published.sink(arguments)).uid("published");
    } else {
      filters.sinkTo(new DiscardingSink<>()).uid("nothing");
    }
  }

  private static boolean runs(JobClient job) {
    try {
      JobStatus status = job.getJobStatus().get(10, TimeUnit.SECONDS);
      return !status.isGloballyTerminalState();
    } catch (Exception gone) {
      return false;
    }
  }

  private SeenJob() {}
}
