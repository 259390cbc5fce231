package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * How much CPU a reader takes for additions, and for answers. The test runs it small, {@code main} in full:
 * {@code java -Xmx2g -cp client/target/classes:client/target/test-classes:JARS io.seen.client.UpdateSpeedTest}
 */
class UpdateSpeedTest {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int ITEMS_OF_RECORD = 2_000; // 100,000 a second, in records of 20 ms

  private int users = 1_000;
  private int page = 1; // items of an event
  private final Random random = new Random(1);
  private final FilterReader reader = new FilterReader("F", List.of(0), 1_000_000_000L);
  private long offset;
  private int beats;

  private List<byte[]> records(int additions) {
    List<byte[]> records = new ArrayList<>();
    for (int made = 0; made < additions; made += ITEMS_OF_RECORD) {
      long[] hashes = new long[ITEMS_OF_RECORD / page];
      int[][] prints = new int[hashes.length][page];
      for (int i = 0; i < hashes.length; ++i) {
        hashes[i] = Updates.hash("user-" + random.nextInt(users));
        for (int j = 0; j < page; ++j) {
          prints[i][j] = random.nextInt();
        }
      }
      records.add(Updates.of(0, 1, offset, offset + hashes.length).section(1, 0, 0, hashes, prints).bytes());
      offset += hashes.length;
    }
    return records;
  }

  private void take(List<byte[]> records) throws RefusedException {
    for (byte[] record : records) {
      reader.takeUpdate(record);
    }
  }

  private void publish(long to) throws RefusedException {
    reader.takeBeat(new byte[] {'0'}, FilterReaderTest.beatOf(
        0, ",'generation':1,'published_to':" + to + ",'snapshots_to':{'F':" + ++beats + "}"));
    reader.snapshotsEnd(0, beats);
  }

  @Test
  void aSmallRunTakesAndDropsAll() throws Exception {
    take(records(20_000));
    assertEquals(20_000, reader.additions());
    publish(offset);
    assertEquals(0, reader.additions());
  }

  private void measure(int additions) throws RefusedException {
    List<byte[]> records = records(additions);
    long start = THREADS.getCurrentThreadCpuTime();
    take(records);
    double takeNs = (double) (THREADS.getCurrentThreadCpuTime() - start) / additions;
    double bytes = (double) reader.memoryBytes() / additions;
    List<String> candidates = new ArrayList<>();
    for (int i = 0; i < 500; ++i) {
      candidates.add("item-" + i);
    }
    start = THREADS.getCurrentThreadCpuTime();
    int unseen = 0;
    for (int i = 0; i < 1_000; ++i) {
      unseen += reader.unseen("user-" + random.nextInt(users), candidates, List.of()).size();
    }
    double askUs = (THREADS.getCurrentThreadCpuTime() - start) / 1e6;
    start = THREADS.getCurrentThreadCpuTime();
    publish(offset);
    for (int i = 0; i < additions / 10_000; ++i) {
      reader.snapshotsEnd(0, beats); // with each record some space is given back
    }
    double dropNs = (double) (THREADS.getCurrentThreadCpuTime() - start) / additions;
    System.out.printf(Locale.ROOT, "%,d additions, %,d users, %d a page: %.0f ns to take (%.1f M/s), %.0f ns to drop "
        + "(both %.1f M/s), %.1f bytes each; 500 candidates %.0f us (%d)%n", additions, users, page, takeNs,
        1e3 / takeNs, dropNs, 1e3 / (takeNs + dropNs), bytes, askUs, unseen);
  }

  public static void main(String[] arguments) throws Exception {
    for (int round = 0; round < 3; ++round) {
      for (int users : new int[] {100_000, 2_000_000}) {
        for (int page : new int[] {1, 10}) {
          UpdateSpeedTest test = new UpdateSpeedTest();
          test.users = users;
          test.page = page;
          test.measure(10_000_000);
        }
      }
    }
  }
}
