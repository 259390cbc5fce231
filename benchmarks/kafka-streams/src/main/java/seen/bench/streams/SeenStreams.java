package seen.bench.streams;

import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import seen.bench.Answers;
import seen.bench.Arguments;
import seen.bench.InputOffsets;
import seen.bench.Progress;

/**
 * The application. Keys: the harness's (`output` is not asked: the changelog is it), and cache_bytes,
 * commit_ms, session_ms, standbys, watched (true: prints which partitions answer).
 */
public final class SeenStreams {
  public static void main(String[] words) throws Exception {
    Arguments arguments = new Arguments(words);
    long[] ends = arguments.flag("bounded") ? InputOffsets.ends(arguments) : null;
    Progress.start(InputOffsets.committed(arguments));
    KafkaStreams streams = new KafkaStreams(topology(arguments).build(), settings(arguments));
    streams.start();
    if (arguments.flag("watched"))
      watch(streams, arguments.number("partitions", 4));
    boolean reached = Progress.printUntil(ends, () -> streams.state() != KafkaStreams.State.ERROR);
    if (!reached)
      throw new IllegalStateException("the application ended by itself");
    if (!arguments.text("answers", "").isEmpty())
      answer(streams, arguments);
    streams.close(Duration.ofMinutes(1)); // commits: what was sent to the changelog is acknowledged
    Progress.print();
    System.out.println("done " + Progress.events());
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  private static StreamsBuilder topology(Arguments arguments) {
    int windowDays = arguments.number("window_days", 30);
    double falsePositiveRate = arguments.fraction("fpr", 0.01);
    StoreBuilder<KeyValueStore<Bytes, byte[]>> store =
        Stores
            .keyValueStoreBuilder(
                Stores.persistentKeyValueStore(DayFilters.STORE), Serdes.Bytes(), Serdes.ByteArray())
            .withLoggingEnabled(Map.of("message.timestamp.type", "LogAppendTime"));
    store = arguments.number("cache_bytes", 0) > 0 ? store.withCachingEnabled() : store.withCachingDisabled();
    StreamsBuilder builder = new StreamsBuilder();
    builder.addStateStore(store);
    builder.stream(arguments.text("input"), Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()))
        .process(() -> new DayFilters(windowDays, falsePositiveRate), DayFilters.STORE);
    return builder;
  }

  private static Properties settings(Arguments arguments) {
    Properties to = new Properties();
    to.put(StreamsConfig.APPLICATION_ID_CONFIG, arguments.text("group"));
    to.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments.text("brokers"));
    to.put(StreamsConfig.STATE_DIR_CONFIG, arguments.text("state_dir"));
    to.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, arguments.number("parallelism", 2));
    to.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE);
    to.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, arguments.text("commit_ms", "10000"));
    to.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, arguments.text("cache_bytes", "0"));
    to.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, SharedMemory.class);
    to.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, StreamsConfig.OPTIMIZE);
    to.put("auto.offset.reset", "earliest");
    to.put("max.poll.records", arguments.text("max_poll_records", "5000"));
    to.put(StreamsConfig.producerPrefix("linger.ms"), arguments.text("linger_ms", "5"));
    to.put(StreamsConfig.producerPrefix("batch.size"), arguments.text("batch_size", "131072"));
    to.put(StreamsConfig.producerPrefix("buffer.memory"), "67108864");
    to.put(StreamsConfig.producerPrefix("acks"), "all");
    to.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, arguments.number("standbys", 0));
    to.put(StreamsConfig.mainConsumerPrefix("session.timeout.ms"), arguments.text("session_ms", "45000"));
    to.put(StreamsConfig.mainConsumerPrefix("heartbeat.interval.ms"), arguments.text("heartbeat_ms", "3000"));
    if (!arguments.text("instance", "").isEmpty()) {
      to.put(StreamsConfig.mainConsumerPrefix("group.instance.id"), arguments.text("instance"));
    }
    return to;
  }

  /** Prints `answers P,P,...` every 50 ms: the partitions whose store answers a query here. */
  private static void watch(KafkaStreams streams, int partitions) {
    Thread watcher = new Thread(() -> {
      while (true) {
        StringBuilder line = new StringBuilder("answers ");
        for (int partition = 0; partition < partitions; partition++) {
          if (answers(streams, partition))
            line.append(partition).append(',');
        }
        System.out.println(line);
        LockSupport.parkNanos(50_000_000);
      }
    });
    watcher.setDaemon(true);
    watcher.start();
  }

  private static boolean answers(KafkaStreams streams, int partition) {
    try {
      streams
          .store(StoreQueryParameters
                     .fromNameAndType(DayFilters.STORE, QueryableStoreTypes.<Bytes, byte[]>keyValueStore())
                     .withPartition(partition))
          .get(Bytes.wrap(new byte[] {'u'}));
      return true;
    } catch (InvalidStateStoreException notHereOrNotYet) {
      return false;
    }
  }

  private static void answer(KafkaStreams streams, Arguments arguments) throws Exception {
    Answers answers = new Answers(arguments.text("answers"));
    ReadOnlyKeyValueStore<Bytes, byte[]> store = streams.store(StoreQueryParameters.fromNameAndType(
        DayFilters.STORE, QueryableStoreTypes.<Bytes, byte[]>keyValueStore()));
    for (String user : arguments.sample()) {
      byte[] value = store.get(Bytes.wrap(user.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
      if (value != null)
        answers.write(user, "bloom", value);
    }
  }

  private SeenStreams() {}
}
