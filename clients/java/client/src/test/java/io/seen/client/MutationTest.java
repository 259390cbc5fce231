package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever the bytes are, they are answered from or refused; nothing else happens. Seeded. */
class MutationTest {
  private static final int ROUNDS = 8_000;
  private static final int[] ASKED = Envelopes.prints(30, 77);

  @ParameterizedTest
  @EnumSource(Kind.class)
  void anyPayloadWithTheRightChecksumIsAnsweredFromOrRefused(Kind kind) {
    Random random = new Random(kind.format());
    byte[][] payloads = {
      Payloads.of(kind, new int[0]),
      Payloads.of(kind, Envelopes.prints(5, 1)),
      Payloads.of(kind, Envelopes.prints(200, 2))
    };
    assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
      int read = 0;
      for (int round = 0; round < ROUNDS; ++round) {
        byte[] payload = mutated(payloads[random.nextInt(payloads.length)], random);
        byte[] bytes = Envelopes.around(kind.format(), payload, 200);
        try {
          ask(Snapshot.parse(bytes));
          ++read;
        } catch (MalformedException refused) {
          assertTrue(refused.getMessage().contains(kind.configurationName()), refused.getMessage());
        } catch (RuntimeException unexpected) {
          throw new AssertionError("round " + round + ": payload " + Arrays.toString(payload), unexpected);
        }
      }
      assertTrue(read > ROUNDS / 100, "only " + read + " were read: the rest of the reader wasn't reached");
    });
  }

  @ParameterizedTest
  @EnumSource(value = Kind.class, names = {"INDEXED_CUCKOO", "DAY_CHAIN"}, mode = EnumSource.Mode.EXCLUDE)
  void anyPayloadOfWhatIsSimilarIsAnsweredFromOrRefused(Kind kind) {
    Random random = new Random(100 + kind.format());
    byte[] first = Envelopes.of(Kind.BLOOM, Envelopes.prints(20, 3));
    byte[][] payloads = {
      Payloads.of(kind, new int[0]), Payloads.of(kind, Envelopes.prints(5, 1)), Payloads.of(kind, Envelopes.prints(99, 2))
    };
    assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
      int read = 0;
      for (int round = 0; round < ROUNDS / 4; ++round) {
        byte[] payload = mutated(payloads[random.nextInt(payloads.length)], random);
        byte[] bytes = Envelopes.withSimilar(first, kind.format(), payload);
        if (random.nextInt(8) == 0) {
          bytes[56 + random.nextInt(16)] = (byte) random.nextInt(256);
          Envelopes.signed(bytes);
        }
        try {
          ask(Snapshot.parse(bytes));
          ++read;
        } catch (RefusedException refused) {
          assertFalse(refused.getMessage().isEmpty());
        } catch (RuntimeException unexpected) {
          throw new AssertionError("round " + round + ": payload " + Arrays.toString(payload), unexpected);
        }
      }
      assertTrue(read > ROUNDS / 400, "only " + read + " were read: the rest of the reader wasn't reached");
    });
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aChangedByteIsNoticed(Kind kind) {
    byte[] good = Envelopes.of(kind, Envelopes.prints(20, 3));
    for (int at = 0; at < good.length; ++at) {
      byte[] bytes = good.clone();
      bytes[at] ^= (byte) (1 << at % 8);
      assertThrows(RefusedException.class, () -> Snapshot.parse(bytes), "byte " + at);
    }
    for (int length = 0; length < good.length; ++length) {
      byte[] bytes = Arrays.copyOf(good, length);
      assertThrows(MalformedException.class, () -> Snapshot.parse(bytes), length + " bytes");
    }
  }

  private static void ask(Snapshot snapshot) {
    Snapshot cut = snapshot.withoutDaysBefore(LocalDate.ofEpochDay(Payloads.DAY - 1));
    for (int print : ASKED) {
      snapshot.mightContainFingerprint(print);
      cut.mightContainFingerprint(print, 1_700_000_000L);
      boolean similar = snapshot.mightBeNearFingerprint(print) | snapshot.mightHoldGroupFingerprint(print);
      assertTrue(snapshot.hasSimilar() || !similar);
    }
    snapshot.entries("n1").forEach(IndexedEntry::toString);
  }

  private static byte[] mutated(byte[] payload, Random random) {
    byte[] bytes = payload.clone();
    int[] interesting = {0, 1, 2, 31, 32, 33, 64, 127, 128, 255};
    for (int changes = random.nextInt(4); changes >= 0 && bytes.length > 0; --changes) {
      int reach = random.nextBoolean() ? Math.min(bytes.length, 40) : bytes.length; // the fields come first
      int at = random.nextInt(reach);
      switch (random.nextInt(5)) {
        case 0:
          bytes[at] ^= (byte) (1 << random.nextInt(8));
          break;
        case 1:
          bytes[at] = (byte) interesting[random.nextInt(interesting.length)];
          break;
        case 2:
          bytes[at] += random.nextBoolean() ? 1 : -1;
          break;
        case 3:
          int to = Math.min(bytes.length, at + random.nextInt(9));
          Arrays.fill(bytes, at, to, (byte) (random.nextBoolean() ? 255 : 0));
          break;
        default:
          if (random.nextInt(8) == 0) {
            bytes = Arrays.copyOf(bytes, Math.max(0, bytes.length + random.nextInt(41) - 20));
          }
      }
    }
    return bytes;
  }
}
