package io.seen.examples;

import io.seen.client.FilterReader;
import io.seen.client.RefusedException;
import io.seen.client.Snapshot;
import io.seen.client.Watermark;
import io.seen.client.Watermarks;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads the topics of snapshots and watermarks from their beginning into a cache, on a thread of its own. With a topic
 * of updates it reads all three into a {@link FilterReader} instead.
 */
final class TopicTail implements Runnable {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration ASK = Duration.ofSeconds(1);
  private static final Duration ASK_EVERY = Duration.ofMillis(200); // at most, for the broker's sake

  private final SnapshotCache cache;
  private final Watermarks watermarks;
  private final Consumer<byte[], byte[]> consumer;
  private final List<TopicPartition> snapshots;
  private final List<TopicPartition> beats;
  private final String watermarkTopic;
  private final FilterReader reader; // null: without updates
  private final Watermarks newestBeats = new Watermarks();
  private String movedTo; // the other topic that was reported last
  private final Thread thread = new Thread(this, "snapshots");

  // For the reader, of the snapshots: the offset after the last record, ends that were found, and those it was told.
  private final Map<Integer, Long> nextSnapshot = new HashMap<>(); // by partition
  private final Map<TopicPartition, Long> ends = new HashMap<>();
  private final Map<TopicPartition, Long> toldEnds = new HashMap<>();
  private final Map<TopicPartition, Long> beatEnds = new HashMap<>(); // asked for after all of `ends`; empty: not yet
  private long askedNs = System.nanoTime() - ASK_EVERY.toNanos();

  // Without a reader. A watermark vouches for the snapshots sent before it, and two topics have no order: those that
  // have come wait until the snapshots have been read that were there then.
  private final Map<String, ConsumerRecord<byte[], byte[]>> arrived = new HashMap<>();
  private final Map<String, ConsumerRecord<byte[], byte[]>> waiting = new HashMap<>();
  private Map<TopicPartition, Long> waitFor;
  private volatile boolean loaded;

  TopicTail(Flags flags, SnapshotCache cache, Watermarks watermarks) {
    this(flags, cache, watermarks, consumer(flags));
  }

  TopicTail(Flags flags, SnapshotCache cache, Watermarks watermarks, Consumer<byte[], byte[]> consumer) {
    this.cache = cache;
    this.watermarks = watermarks;
    this.consumer = consumer;
    watermarkTopic = flags.text("--watermarks");
    snapshots = partitionsOf(flags.text("--snapshots"));
    if (snapshots.isEmpty()) {
      consumer.close();
      throw new IllegalArgumentException("no topic " + flags.text("--snapshots") + " at " + flags.text("--brokers"));
    }
    beats = partitionsOf(watermarkTopic); // without them a snapshot is as fresh as it says itself
    List<TopicPartition> updates = hasUpdates(flags) ? partitionsOf(flags.text("--updates")) : List.of();
    reader = hasUpdates(flags) ? readerOf(flags) : null;
    consumer.assign(beats);
    consumer.seekToBeginning(beats);
    if (reader != null) {
      readBeats(); // where the updates begin; and the reader knows which log it begins to read
    }
    List<TopicPartition> all = new ArrayList<>(beats);
    all.addAll(snapshots);
    all.addAll(updates);
    consumer.assign(all); // the beats go on where they are
    consumer.seekToBeginning(snapshots);
    updates.forEach(p -> consumer.seek(p, updatesFrom(p))); // deleted: auto.offset.reset
    if (reader != null) {
      snapshots.forEach(this::follow); // the oldest beat there may have named another log than the newest
    }
  }

  private static boolean hasUpdates(Flags flags) {
    return !flags.text("--updates").equals("none");
  }

  private static Consumer<byte[], byte[]> consumer(Flags flags) {
    return new KafkaConsumer<>(Map.of(
        "bootstrap.servers", flags.text("--brokers"),
        "auto.offset.reset", "earliest",
        "allow.auto.create.topics", false,
        "fetch.min.bytes", hasUpdates(flags) ? 1_000_000 : 1, // updates come all the time: fewer fetches
        "fetch.max.wait.ms", hasUpdates(flags) ? 10 : 500,
        "reconnect.backoff.max.ms", 1_000), new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  private FilterReader readerOf(Flags flags) {
    List<Integer> partitions = snapshots.stream().map(TopicPartition::partition).collect(Collectors.toList());
    return new FilterReader(
        flags.text("--filter"), partitions, flags.number("--additions-max"), flags.text("--snapshots"));
  }

  private void readBeats() {
    Map<TopicPartition, Long> found = consumer.endOffsets(beats, ASK);
    while (beats.stream().anyMatch(p -> consumer.position(p, ASK) < found.get(p))) {
      consumer.poll(POLL).forEach(this::take);
    }
  }

  /** Where in this partition of the updates to begin, as its newest beat says. */
  private long updatesFrom(TopicPartition p) {
    return newestBeats.of(p.partition()).map(Watermark::updatesFrom).orElse(OptionalLong.empty()).orElse(0);
  }

  private List<TopicPartition> partitionsOf(String topic) {
    List<TopicPartition> partitions = new ArrayList<>();
    consumer.partitionsFor(topic).forEach(p -> partitions.add(new TopicPartition(topic, p.partition())));
    return partitions;
  }

  TopicTail start() {
    thread.setDaemon(true);
    thread.start();
    return this;
  }

  /** How many partitions the topic of snapshots has. */
  int partitions() {
    return snapshots.size();
  }

  /** Knows the snapshots and the updates; null without a topic of updates. */
  FilterReader reader() {
    return reader;
  }

  /** All that was there at the start has been read. */
  boolean isLoaded() {
    return loaded;
  }

  @Override
  public void run() {
    try (consumer) {
      while (true) {
        poll();
      }
    } catch (WakeupException closed) {
      // the end; any other exception is printed, and what is held grows stale
    }
  }

  void poll() {
    ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
    for (TopicPartition p : records.partitions()) {
      List<ConsumerRecord<byte[], byte[]>> ofPartition = records.records(p);
      if (snapshots.contains(p) && ofPartition.get(0).offset() < nextSnapshot.getOrDefault(p.partition(), 0L)) {
        startOver(p); // the consumer went back, though perhaps not to the beginning
      } else {
        ofPartition.forEach(this::take);
      }
    }
    if (reader == null) {
      catchUp();
    } else {
      snapshots.forEach(this::follow);
      tellEnds();
    }
  }

  void close() throws InterruptedException {
    consumer.wakeup();
    thread.join();
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    String key = record.key() == null ? null : new String(record.key(), StandardCharsets.UTF_8);
    try {
      if (record.topic().equals(watermarkTopic)) {
        takeBeat(record, key);
      } else if (!record.topic().equals(snapshots.get(0).topic())) {
        reader.takeUpdate(record.value());
      } else if (key != null && reader != null) {
        nextSnapshot.put(record.partition(), record.offset() + 1);
        reader.takeSnapshot(record.partition(), key, record.value());
      } else if (key != null) {
        takeIntoCache(key, record.value());
      }
    } catch (RefusedException refused) {
      System.err.println(record.topic() + "/" + record.partition() + "@" + record.offset() + ": " + refused);
    }
  }

  /** Each in its order: where one is refused, the one before it counts. */
  private void takeBeat(ConsumerRecord<byte[], byte[]> record, String key) throws RefusedException {
    if (reader != null) {
      reader.takeBeat(record.key(), record.value());
    }
    newestBeats.accept(record.key(), record.value());
    if (reader == null) {
      arrived.put(key, record);
    }
  }

  private void takeIntoCache(String user, byte[] value) throws RefusedException {
    try {
      if (value == null) {
        cache.forget(user);
      } else {
        cache.put(user, Snapshot.parse(value), value.length);
      }
    } catch (RefusedException refused) {
      cache.refused(user);
      throw refused;
    }
  }

  /** Does what the newest beat asks for. */
  private void follow(TopicPartition p) {
    if (reader.mustRestart(p.partition())) {
      startOver(p);
    }
    String topic = reader.movedTo(p.partition()).orElse(movedTo);
    if (topic != null && !topic.equals(movedTo)) {
      System.err.println("the filter has moved to the topic " + topic + ": start again with it");
      movedTo = topic;
    }
  }

  /** The topic was cut, or is another one. The consumer drops what it has fetched from before a seek. */
  private void startOver(TopicPartition p) {
    consumer.seekToBeginning(List.of(p));
    nextSnapshot.remove(p.partition()); // else the first record, too, would make the reader start over
    ends.remove(p);
    toldEnds.remove(p);
    beatEnds.clear(); // else none would be found any more
    reader.snapshotsRestart(p.partition());
  }

  /**
   * The reader learns where it stood at the end of the snapshots. First the beats are read to an end that was found
   * later: one of them may say that the snapshots were created again.
   */
  private void tellEnds() {
    try {
      snapshots.forEach(this::findEnd);
      if (ends.isEmpty() || !areBeatsRead()) {
        return; // seen to again after the next poll
      }
    } catch (TimeoutException brokersAway) {
      return;
    }
    ends.forEach((p, end) -> reader.snapshotsEnd(p.partition(), end));
    toldEnds.putAll(ends);
    ends.clear();
    beatEnds.clear();
  }

  private void findEnd(TopicPartition p) {
    long position = consumer.position(p, ASK);
    if (position < nextSnapshot.getOrDefault(p.partition(), 0L)) {
      startOver(p); // the consumer went back, and there is nothing to read yet
      return;
    }
    // 0: the newest fetch reached the end that its own answer named. The topic may grow all the time, so an end found
    // counts also when the reader has read on; an end asked for and reached later wouldn't, because of compaction.
    boolean isAtEnd = consumer.currentLag(p).orElse(-1) == 0;
    if (isAtEnd && beatEnds.isEmpty() && !Long.valueOf(position).equals(toldEnds.get(p))) {
      ends.put(p, position);
    }
  }

  /** To an end that was asked for after those of the snapshots were found. */
  private boolean areBeatsRead() {
    if (haveReachedBeatEnds()) {
      return true;
    }
    long nowNs = System.nanoTime();
    if (nowNs - askedNs < ASK_EVERY.toNanos()) {
      return false;
    }
    askedNs = nowNs;
    Map<TopicPartition, Long> asked = consumer.endOffsets(beats, ASK);
    if (beats.stream().anyMatch(p -> consumer.position(p, ASK) > asked.get(p))) {
      beatEnds.clear(); // the topic was cut, and the consumer has yet to go back
      return false;
    }
    asked.forEach((p, end) -> beatEnds.merge(p, end, Math::min)); // lower than before: it was cut
    return haveReachedBeatEnds();
  }

  private boolean haveReachedBeatEnds() {
    return !beatEnds.isEmpty() && beats.stream().allMatch(p -> consumer.position(p, ASK) >= beatEnds.get(p));
  }

  private void catchUp() {
    try {
      if (waitFor == null && (!loaded || !arrived.isEmpty())) {
        waitFor = consumer.endOffsets(snapshots, ASK);
        waiting.putAll(arrived);
        arrived.clear();
      }
      if (waitFor == null || snapshots.stream().anyMatch(p -> consumer.position(p, ASK) < waitFor.get(p))) {
        return;
      }
    } catch (TimeoutException brokersAway) {
      return; // again after the next poll
    }
    loaded = true;
    waitFor = null;
    waiting.values().forEach(this::vouch);
    waiting.clear();
  }

  private void vouch(ConsumerRecord<byte[], byte[]> record) {
    try {
      watermarks.accept(record.key(), record.value());
    } catch (RefusedException refused) {
      throw new IllegalStateException(refused); // it was accepted when it arrived
    }
  }
}
