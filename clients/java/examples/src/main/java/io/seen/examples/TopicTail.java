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
import org.apache.kafka.clients.consumer.ConsumerRecord;
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

  private final SnapshotCache cache;
  private final Watermarks watermarks;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final List<TopicPartition> snapshots;
  private final List<TopicPartition> beats;
  private final String watermarkTopic;
  private final FilterReader reader; // null: without updates
  private final Map<Integer, Long> nextSnapshot = new HashMap<>(); // by partition, for the reader
  private boolean atEnd; // the reader was, when it was asked after the newest beat
  private String movedTo; // the other topic that was reported last
  private final Thread thread = new Thread(this, "snapshots");

  // A watermark vouches for the snapshots sent before it, and two topics have no order: those that have come wait until
  // the snapshots have been read that were there then.
  private final Map<String, ConsumerRecord<byte[], byte[]>> arrived = new HashMap<>();
  private final Map<String, ConsumerRecord<byte[], byte[]>> waiting = new HashMap<>();
  private Map<TopicPartition, Long> waitFor;
  private volatile boolean loaded;

  TopicTail(Flags flags, SnapshotCache cache, Watermarks watermarks) {
    this.cache = cache;
    this.watermarks = watermarks;
    watermarkTopic = flags.text("--watermarks");
    boolean hasUpdates = !flags.text("--updates").equals("none");
    consumer = new KafkaConsumer<>(Map.of(
        "bootstrap.servers", flags.text("--brokers"),
        "auto.offset.reset", "earliest",
        "allow.auto.create.topics", false,
        "fetch.min.bytes", hasUpdates ? 1_000_000 : 1, // updates come all the time: fewer fetches for the broker
        "fetch.max.wait.ms", hasUpdates ? 10 : 500,
        "reconnect.backoff.max.ms", 1_000), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    snapshots = partitionsOf(flags.text("--snapshots"));
    if (snapshots.isEmpty()) {
      consumer.close();
      throw new IllegalArgumentException("no topic " + flags.text("--snapshots") + " at " + flags.text("--brokers"));
    }
    beats = partitionsOf(watermarkTopic); // without them a snapshot is as fresh as it says itself
    List<TopicPartition> updates = hasUpdates ? partitionsOf(flags.text("--updates")) : List.of();
    reader = hasUpdates ? readerOf(flags) : null;
    consumer.assign(beats);
    consumer.seekToBeginning(beats);
    Map<Integer, Long> from = hasUpdates ? readBeats() : Map.of();
    List<TopicPartition> all = new ArrayList<>(beats);
    all.addAll(snapshots);
    all.addAll(updates);
    consumer.assign(all); // the beats go on where they are
    consumer.seekToBeginning(snapshots);
    updates.forEach(p -> consumer.seek(p, from.getOrDefault(p.partition(), 0L))); // deleted: auto.offset.reset
  }

  private FilterReader readerOf(Flags flags) {
    List<Integer> partitions = snapshots.stream().map(TopicPartition::partition).collect(Collectors.toList());
    return new FilterReader(
        flags.text("--filter"), partitions, flags.number("--additions-max"), flags.text("--snapshots"));
  }

  /** To their end; where the newest say that the updates begin. */
  private Map<Integer, Long> readBeats() {
    Map<TopicPartition, Long> ends = consumer.endOffsets(beats, ASK);
    while (beats.stream().anyMatch(p -> consumer.position(p, ASK) < ends.get(p))) {
      consumer.poll(POLL).forEach(this::take);
    }
    Map<Integer, Long> from = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> record : arrived.values()) {
      try {
        Watermark beat = record.value() == null ? null : Watermark.parse(record.value());
        OptionalLong begin = beat == null ? OptionalLong.empty() : beat.updatesFrom();
        begin.ifPresent(offset -> from.put(beat.partition(), offset));
      } catch (RefusedException refused) {
        continue; // reported when the reader takes it
      }
    }
    takeArrived(); // before the first snapshot: so the reader knows which log it begins to read
    return from;
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
        consumer.poll(POLL).forEach(this::take);
        if (reader == null) {
          catchUp();
        } else {
          takeBeats();
        }
      }
    } catch (WakeupException closed) {
      // the end; any other exception is printed, and what is held grows stale
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
        arrived.put(key, record);
      } else if (!record.topic().equals(snapshots.get(0).topic())) {
        reader.takeUpdate(record.value());
      } else if (key != null && reader != null) {
        takeSnapshot(record, key);
      } else if (key != null && record.value() == null) {
        cache.forget(key);
      } else if (key != null) {
        cache.put(key, Snapshot.parse(record.value()), record.value().length);
      }
    } catch (RefusedException refused) {
      System.err.println(record.topic() + "/" + record.partition() + "@" + record.offset() + ": " + refused);
      if (reader == null) {
        cache.refused(key);
      }
    }
  }

  private void takeSnapshot(ConsumerRecord<byte[], byte[]> record, String user) throws RefusedException {
    Long expected = nextSnapshot.put(record.partition(), record.offset() + 1);
    if (expected != null && record.offset() < expected) {
      reader.snapshotsRestart(record.partition()); // the topic was cut, or is another one
    }
    reader.takeSnapshot(record.partition(), user, record.value());
  }

  /** After each beat, which come once a second, the reader learns where it stands at the end of the snapshots. */
  private void takeBeats() {
    atEnd &= arrived.isEmpty();
    takeArrived();
    if (atEnd) {
      return;
    }
    try {
      Map<TopicPartition, Long> beatEnds = consumer.endOffsets(beats, ASK);
      if (beats.stream().anyMatch(p -> consumer.position(p, ASK) < beatEnds.get(p))) {
        return; // one of them may say that the snapshots were created again; asked again after the next poll
      }
      Map<TopicPartition, Long> ends = consumer.endOffsets(snapshots, ASK); // asked after the last record
      atEnd = true;
      for (TopicPartition p : snapshots) {
        long position = consumer.position(p, ASK);
        if (position >= ends.get(p)) {
          reader.snapshotsEnd(p.partition(), position);
        } else {
          atEnd = false; // asked again after the next poll
        }
      }
    } catch (TimeoutException brokersAway) {
      atEnd = false;
    }
  }

  private void takeArrived() {
    arrived.values().forEach(this::vouch);
    arrived.clear();
    snapshots.forEach(this::follow);
  }

  /** Does what the newest beat asks for. The consumer drops what it has fetched from before a seek. */
  private void follow(TopicPartition p) {
    if (reader.mustRestart(p.partition())) {
      consumer.seekToBeginning(List.of(p));
      nextSnapshot.remove(p.partition()); // else the first record, too, would make the reader start over
      reader.snapshotsRestart(p.partition());
    }
    String topic = reader.movedTo(p.partition()).orElse(movedTo);
    if (topic != null && !topic.equals(movedTo)) {
      System.err.println("the filter has moved to the topic " + topic + ": start again with it");
      movedTo = topic;
    }
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
      if (reader == null) {
        watermarks.accept(record.key(), record.value());
      } else {
        reader.takeBeat(record.key(), record.value());
      }
    } catch (RefusedException refused) {
      System.err.println(record.topic() + "@" + record.offset() + ": " + refused);
    }
  }
}
