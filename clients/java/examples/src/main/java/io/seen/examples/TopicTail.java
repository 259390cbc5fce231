package io.seen.examples;

import io.seen.client.RefusedException;
import io.seen.client.Snapshot;
import io.seen.client.Watermarks;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads the topics of snapshots and watermarks from their beginning into a cache, on a thread of its own. */
final class TopicTail implements Runnable {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration ASK = Duration.ofSeconds(1);

  private final SnapshotCache cache;
  private final Watermarks watermarks;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final List<TopicPartition> snapshots;
  private final String watermarkTopic;
  private final Thread thread = new Thread(this, "snapshots");

  // A watermark vouches for the snapshots sent before it, and two topics have no order: those that have come wait until
  // the snapshots have been read that were there then.
  private final Map<String, ConsumerRecord<byte[], byte[]>> arrived = new HashMap<>();
  private final Map<String, ConsumerRecord<byte[], byte[]>> waiting = new HashMap<>();
  private Map<TopicPartition, Long> waitFor;
  private volatile boolean loaded;

  TopicTail(String brokers, String snapshotTopic, String watermarkTopic, SnapshotCache cache, Watermarks watermarks) {
    this.cache = cache;
    this.watermarks = watermarks;
    this.watermarkTopic = watermarkTopic;
    Map<String, Object> settings = Map.of(
        "bootstrap.servers", brokers,
        "auto.offset.reset", "earliest",
        "allow.auto.create.topics", false,
        "reconnect.backoff.max.ms", 1_000);
    consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    snapshots = partitionsOf(snapshotTopic);
    if (snapshots.isEmpty()) {
      consumer.close();
      throw new IllegalArgumentException("no topic " + snapshotTopic + " at " + brokers);
    }
    List<TopicPartition> all = new ArrayList<>(snapshots);
    all.addAll(partitionsOf(watermarkTopic)); // without them a snapshot is as fresh as it says itself
    consumer.assign(all);
    consumer.seekToBeginning(all);
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

  /** All that was there at the start has been read. */
  boolean isLoaded() {
    return loaded;
  }

  @Override
  public void run() {
    try (consumer) {
      while (true) {
        consumer.poll(POLL).forEach(this::take);
        catchUp();
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
    if (record.key() == null) {
      return;
    }
    String key = new String(record.key(), StandardCharsets.UTF_8);
    if (record.topic().equals(watermarkTopic)) {
      arrived.put(key, record);
    } else if (record.value() == null) {
      cache.forget(key);
    } else {
      try {
        cache.put(key, Snapshot.parse(record.value()), record.value().length);
      } catch (RefusedException refused) {
        System.err.println(record.topic() + "/" + record.partition() + "@" + record.offset() + ": " + refused);
        cache.refused(key);
      }
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
      watermarks.accept(record.key(), record.value());
    } catch (RefusedException refused) {
      System.err.println(record.topic() + "@" + record.offset() + ": " + refused);
    }
  }
}
