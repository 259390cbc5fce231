package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.dynatrace.hash4j.hashing.Hashing;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FingerprintsTest {

  @Test
  void fourBytesHashAsTheLibraryHashesThem() {
    Random random = new Random(1);
    for (int i = 0; i < 100_000; ++i) {
      int print = i == 0 ? 0 : i == 1 ? -1 : random.nextInt();
      byte[] bytes = Payloads.little(4).putInt(print).array();
      assertEquals(Hashing.xxh64().hashBytesToLong(bytes), Fingerprints.hash(print));
    }
  }

  @Test
  void aLookUpAllocatesNothing() throws Exception {
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().getId();
    byte[] id = "item-1234567890-1234567890-1234567890".getBytes(StandardCharsets.UTF_8);
    for (Kind kind : Kind.values()) {
      Snapshot snapshot = Snapshot.parse(Envelopes.of(kind, Envelopes.prints(200, 8)));
      int rounds = 20_000;
      long least = Long.MAX_VALUE; // of some tries: the virtual machine may allocate beside
      for (int attempt = 0; attempt < 3; ++attempt) {
        long before = threads.getThreadAllocatedBytes(self);
        int yes = 0;
        for (int i = 0; i < rounds; ++i) {
          id[5] = (byte) i;
          yes += snapshot.mightContain(id) ? 1 : 0;
          yes += snapshot.mightContainFingerprint(i, 1) ? 1 : 0;
        }
        assertTrue(yes < rounds);
        least = Math.min(least, threads.getThreadAllocatedBytes(self) - before);
      }
      assertTrue(least < rounds, kind + ": " + least + " bytes for " + rounds + " look-ups");
    }
  }
}
