package io.seen.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.seen.client.Watermarks;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** How the tail feeds a reader. The reader says how far it is complete once it knows that it stood at the end. */
class TopicTailTest {
  private static final TopicPartition SNAPSHOTS = new TopicPartition("seen-filters", 0);
  private static final TopicPartition BEATS = new TopicPartition("seen-watermarks", 0);
  private static final TopicPartition UPDATES = new TopicPartition("updates", 0);
  private static final OptionalLong NOT_YET = OptionalLong.empty();

  /** The brokers: three topics of one partition. */
  private static final class Fake extends MockConsumer<byte[], byte[]> {
    final List<String> firstBeats = new ArrayList<>();
    int questions;
    Runnable beforeAnswer = () -> { }; // to the question where the beats end
    private long beats;

    Fake() {
      super(OffsetResetStrategy.EARLIEST);
      for (TopicPartition p : List.of(SNAPSHOTS, BEATS, UPDATES)) {
        updatePartitions(p.topic(), List.of(new PartitionInfo(p.topic(), 0, null, null, null)));
        updateBeginningOffsets(Map.of(p, 0L));
        updateEndOffsets(Map.of(p, 0L));
      }
    }

    @Override
    public synchronized void assign(Collection<TopicPartition> partitions) {
      super.assign(partitions);
      if (partitions.size() == 1) {
        firstBeats.forEach(this::beat);
      }
    }

    @Override
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions, Duration timeout) {
      ++questions;
      if (partitions.contains(BEATS)) {
        beforeAnswer.run();
      }
      return super.endOffsets(partitions, timeout);
    }

    /** {@code members}: in the words of schemas/update.md, each with a comma before it. */
    void beat(String members) {
      String value = "{'version': 1, 'partition': 0, 'partition_time_ms': 0, 'next_offset': 0, 'lag_messages': 0,"
          + " 'unpublished_users': 0, 'heartbeat_ms': 0" + members + "}";
      add(BEATS, beats++, "0", value.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
      updateEndOffsets(Map.of(BEATS, beats));
    }

    /** Tombstones at these offsets. */
    void snapshots(long from, long to) {
      for (long offset = from; offset < to; ++offset) {
        add(SNAPSHOTS, offset, "u" + offset, null);
      }
    }

    void snapshotsEnd(long offset) {
      updateEndOffsets(Map.of(SNAPSHOTS, offset));
    }

    private void add(TopicPartition p, long offset, String key, byte[] value) {
      addRecord(new ConsumerRecord<>(p.topic(), p.partition(), offset, key.getBytes(StandardCharsets.UTF_8), value));
    }
  }

  private final Fake kafka = new Fake();

  private TopicTail tail() {
    Flags flags = new Flags(TailExample.USAGE, new String[] {"--updates", "updates"});
    return new TopicTail(flags, null, null, kafka);
  }

  private static String base(long publishedTo, long snapshotsTo, long log) {
    return ", 'generation': 1, 'published_to': " + publishedTo + ", 'snapshots_to': {'default': " + snapshotsTo
        + "}, 'snapshots_log': {'default': " + log + "}";
  }

  private static OptionalLong completeAfterPoll(TopicTail tail) {
    tail.poll();
    return tail.reader().completeTo(0);
  }

  /** So long that the tail has asked for the end of the beats again. */
  private static OptionalLong completeAfterPolls(TopicTail tail) throws InterruptedException {
    for (int i = 0; i < 5; ++i) {
      tail.poll();
      Thread.sleep(100);
    }
    return tail.reader().completeTo(0);
  }

  private TopicTail tailAtTheEnd() throws InterruptedException {
    kafka.firstBeats.add(base(10, 5, 1));
    TopicTail tail = tail();
    kafka.snapshots(0, 5);
    kafka.snapshotsEnd(5);
    assertEquals(OptionalLong.of(10), completeAfterPolls(tail));
    return tail;
  }

  @Test
  void theUpdatesBeginWhereTheNewestBeatThatIsNotRefusedSays() {
    kafka.firstBeats.add(base(10, 5, 1) + ", 'updates_from': 3");
    kafka.firstBeats.add(base(20, 5, 1) + ", 'updates_from': 7");
    kafka.firstBeats.add(base(30, 5, 1) + ", 'updates_from': -1");
    tail();
    assertEquals(7, kafka.position(UPDATES));
  }

  @Test
  void theUpdatesBeginAtTheBeginningIfTheNewestBeatDoesNotSay() {
    kafka.firstBeats.add(base(10, 5, 1) + ", 'updates_from': 7");
    kafka.firstBeats.add(base(20, 5, 1));
    tail();
    assertEquals(0, kafka.position(UPDATES));
  }

  @Test
  void theReaderBeginsToReadTheLogOfTheNewestBeat() {
    kafka.firstBeats.add(base(10, 5, 1));
    kafka.firstBeats.add(base(10, 5, 2));
    TopicTail tail = tail();
    kafka.snapshots(0, 5);
    kafka.snapshotsEnd(5);
    assertEquals(OptionalLong.of(10), completeAfterPoll(tail));
  }

  @Test
  void aRefusedBeatReplacesNoneOfTheSamePoll() throws InterruptedException {
    TopicTail tail = tailAtTheEnd();
    kafka.beat(base(20, 5, 1));
    kafka.beat(base(-1, 5, 1));
    assertEquals(OptionalLong.of(20), completeAfterPoll(tail));
  }

  @Test
  void theBeatsAreReadToAnEndThatWasFoundAfterThatOfTheSnapshots() throws InterruptedException {
    kafka.firstBeats.add(base(10, 5, 1));
    TopicTail tail = tail();
    kafka.snapshots(0, 5);
    kafka.snapshotsEnd(5);
    kafka.beforeAnswer = () -> kafka.beat(base(10, 5, 2)); // the topic was created again
    assertEquals(NOT_YET, completeAfterPoll(tail));
    kafka.beforeAnswer = () -> { };
    assertEquals(NOT_YET, completeAfterPoll(tail));
    assertEquals(0, kafka.position(SNAPSHOTS));
    kafka.snapshots(0, 5);
    assertEquals(OptionalLong.of(10), completeAfterPolls(tail));
  }

  @Test
  void anEndCountsAlsoOnceTheReaderHasReadOn() {
    kafka.firstBeats.add(base(10, 5, 1));
    TopicTail tail = tail();
    kafka.snapshots(0, 5);
    kafka.snapshotsEnd(5);
    kafka.beforeAnswer = () -> kafka.beat(base(10, 5, 1));
    assertEquals(NOT_YET, completeAfterPoll(tail));
    kafka.snapshots(5, 6);
    kafka.snapshotsEnd(9);
    assertEquals(OptionalLong.of(10), completeAfterPoll(tail));
  }

  @Test
  void anEndThatIsFoundAfterTheQuestionWaitsForTheNextOne() throws InterruptedException {
    kafka.firstBeats.add(base(10, 6, 1));
    TopicTail tail = tail();
    kafka.snapshots(0, 5);
    kafka.snapshotsEnd(5);
    kafka.beforeAnswer = () -> kafka.beat(base(10, 6, 1));
    assertEquals(NOT_YET, completeAfterPoll(tail));
    kafka.beforeAnswer = () -> { };
    kafka.snapshots(5, 6);
    kafka.snapshotsEnd(6);
    assertEquals(NOT_YET, completeAfterPoll(tail));
    assertEquals(OptionalLong.of(10), completeAfterPolls(tail));
  }

  @Test
  void anEndBeforeThePositionIsThatOfAnotherLog() throws InterruptedException {
    kafka.firstBeats.add(base(10, 5, 1));
    TopicTail tail = tail();
    kafka.snapshots(0, 5);
    kafka.snapshotsEnd(2);
    assertEquals(NOT_YET, completeAfterPolls(tail));
  }

  @Test
  void anEndOfTheBeatsBeforeThePositionIsThatOfAnotherLog() throws InterruptedException {
    kafka.firstBeats.add(base(10, 5, 1));
    TopicTail tail = tail();
    kafka.snapshots(0, 5);
    kafka.snapshotsEnd(5);
    kafka.updateEndOffsets(Map.of(BEATS, 0L));
    assertEquals(NOT_YET, completeAfterPolls(tail));
    kafka.seek(BEATS, 0); // now the consumer knows it, too
    assertEquals(OptionalLong.of(10), completeAfterPolls(tail));
  }

  @Test
  void theReaderStartsOverAtTheBeginningWhenAnOffsetGoesBack() throws InterruptedException {
    TopicTail tail = tailAtTheEnd();
    kafka.seek(SNAPSHOTS, 3); // what the consumer does when the topic lost its end
    kafka.snapshots(3, 5);
    assertEquals(NOT_YET, completeAfterPoll(tail));
    assertEquals(0, kafka.position(SNAPSHOTS));
    kafka.snapshots(0, 5);
    assertEquals(OptionalLong.of(10), completeAfterPolls(tail));
  }

  @Test
  void theReaderStartsOverWhenThePositionGoesBackAndNothingIsThere() throws InterruptedException {
    TopicTail tail = tailAtTheEnd();
    kafka.seek(SNAPSHOTS, 0);
    kafka.snapshotsEnd(0);
    assertEquals(NOT_YET, completeAfterPolls(tail));
    kafka.snapshots(0, 5);
    kafka.snapshotsEnd(5);
    assertEquals(OptionalLong.of(10), completeAfterPolls(tail));
  }

  @Test
  void itAsksTheBrokersSeldom() throws InterruptedException {
    TopicTail tail = tailAtTheEnd();
    int before = kafka.questions;
    kafka.beat(base(20, 9, 1));
    completeAfterPolls(tail);
    assertEquals(before, kafka.questions, "it stands where it stood");
    kafka.beforeAnswer = () -> kafka.beat(base(20, 9, 1)); // the end is always one further
    long beginMs = System.currentTimeMillis();
    for (long offset = 5; offset < 60; ++offset) {
      kafka.snapshots(offset, offset + 1);
      kafka.snapshotsEnd(offset + 1);
      tail.poll();
      Thread.sleep(1);
    }
    long most = 1 + (System.currentTimeMillis() - beginMs) / 200;
    assertTrue(kafka.questions - before <= most, kafka.questions - before + " questions; at most " + most);
  }
}
