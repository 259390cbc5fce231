package io.seen.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Small encoders of every kind, after schemas/snapshot.md; the sizes are ample, not the best. */
final class Payloads {
  static final int DAY = 20_383;

  private Payloads() {}

  static byte[] of(Kind kind, int[] prints) {
    switch (kind) {
      case SPLIT_BLOCK_BLOOM:
        return splitBlockBloom(prints, 1 + prints.length / 20);
      case BLOOM:
        return bloom(prints, 7, 2 + prints.length * 10 / 8);
      case COUNTING_BLOOM:
        return countingBloom(prints, 7, 2 + prints.length * 10 / 2);
      case D_LEFT:
        return dLeft(prints, 11, 8, 2 + prints.length / 20);
      case QUOTIENT:
        return quotient(prints, 7, 1 + prints.length * 5 / 4, 100 + prints.length * 3 / 2);
      case CUCKOO:
        return cuckoo(prints, 10, 0, 2 + prints.length / 3);
      case INDEXED_CUCKOO:
        return cuckoo(prints, 10, 14, 2 + prints.length / 3);
      case BINARY_FUSE_8:
        return binaryFuse(prints, 1);
      case BINARY_FUSE_16:
        return binaryFuse(prints, 2);
      case DAY_CHAIN:
        return dayChain(prints, Math.min(prints.length, 5));
      case FINGERPRINTS:
        return fingerprints(prints);
      default:
        throw new AssertionError(kind);
    }
  }

  static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] join(ByteBuffer fields, byte[]... rest) {
    int size = fields.position();
    for (byte[] part : rest) {
      size += part.length;
    }
    ByteBuffer all = little(size).put(fields.flip());
    for (byte[] part : rest) {
      all.put(part);
    }
    return all.array();
  }

  private static long range(long x, long n) {
    return x * n >>> 32;
  }

  private static long high(int print) {
    return Fingerprints.hash(print) >>> 32;
  }

  private static long low(int print) {
    return Fingerprints.hash(print) & 0xFFFFFFFFL;
  }

  static byte[] splitBlockBloom(int[] prints, int blocks) {
    long[] salt = {
      0x47b6137bL, 0x44974d91L, 0x8824ad5bL, 0xa2b7289dL, 0x705495c7L, 0x2df1424bL, 0x9efc4947L, 0x5c6bfb31L
    };
    Bits bits = Bits.zeros(256L * blocks);
    for (int print : prints) {
      long block = range(high(print), blocks);
      for (int i = 0; i < 8; ++i) {
        long bit = (low(print) * salt[i] & 0xFFFFFFFFL) >>> 27;
        bits.put(256 * block + 32 * i + bit, 1, 1);
      }
    }
    return bits.toBytes();
  }

  static byte[] bloom(int[] prints, int k, int bytes) {
    Bits bits = Bits.zeros(8L * bytes);
    for (int print : prints) {
      long g = Fingerprints.hash(print);
      for (int i = 0; i < k; ++i, g *= 0xd1342543de82ef95L) {
        bits.put(range(g >>> 32, 8L * bytes), 1, 1);
      }
    }
    return join(little(1).put((byte) k), bits.toBytes());
  }

  static byte[] countingBloom(int[] prints, int k, int bytes) {
    Bits bits = Bits.zeros(8L * bytes);
    for (int print : prints) {
      long g = Fingerprints.hash(print);
      for (int i = 0; i < k; ++i, g *= 0xd1342543de82ef95L) {
        long at = 4 * range(g >>> 32, 2L * bytes);
        bits.put(at, 4, Math.min(15, bits.get(at, 4) + 1));
      }
    }
    return join(little(1).put((byte) k), bits.toBytes());
  }

  static byte[] dLeft(int[] prints, int r, int cells, int buckets) {
    Bits bits = Bits.zeros(4L * buckets * cells * (r + 2));
    long[] multiplier = {0x9e3779b1L, 0x85ebca77L, 0xc2b2ae3dL, 0x27d4eb2fL};
    next:
    for (int print : prints) {
      long remainder = low(print) % (1L << r);
      long free = -1;
      for (int i = 0; i < 4; ++i) {
        long shift = range((remainder + 1) * multiplier[i] & 0xFFFFFFFFL, buckets);
        long bucket = (range(high(print), buckets) + shift) % buckets;
        for (int j = 0; j < cells; ++j) {
          long at = ((i * (long) buckets + bucket) * cells + j) * (r + 2);
          if (bits.get(at, 2) == 0) {
            free = free < 0 ? at : free;
          } else if (bits.get(at + 2, r) == remainder) {
            bits.put(at, 2, Math.min(3, bits.get(at, 2) + 1));
            continue next;
          }
        }
      }
      if (free < 0) {
        throw new IllegalStateException("full");
      }
      bits.put(free, 2, 1);
      bits.put(free + 2, r, remainder);
    }
    return join(little(6).put((byte) r).put((byte) cells).putInt(buckets), bits.toBytes());
  }

  static byte[] quotient(int[] prints, int r, int quotients, int slots) {
    long[] sorted = Arrays.stream(prints)
        .mapToLong(p -> high(p) * quotients)
        .map(y -> (y >>> 32) << 32 | (y & 0xFFFFFFFFL) >>> (32 - r))
        .sorted()
        .toArray();
    int blocks = (slots + 63) / 64;
    boolean[] occupied = new boolean[64 * blocks];
    boolean[] runEnds = new boolean[64 * blocks];
    long[] remainders = new long[slots];
    int[] takenBefore = new int[blocks]; // the first slot free of runs of quotients before the block
    int slot = 0;
    int block = 0;
    for (int i = 0; i < sorted.length; ++i) {
      int quotient = (int) (sorted[i] >>> 32);
      for (; block <= quotient / 64; ++block) {
        takenBefore[block] = slot;
      }
      slot = Math.max(slot, quotient);
      occupied[quotient] = true;
      remainders[slot] = sorted[i] & 0xFFFFFFFFL;
      runEnds[slot] = i + 1 == sorted.length || sorted[i + 1] >>> 32 != quotient;
      ++slot;
    }
    for (; block < blocks; ++block) {
      takenBefore[block] = slot;
    }
    Bits bits = new Bits();
    for (int b = 0; b < blocks; ++b) {
      bits.append(16, Math.max(0, takenBefore[b] - 64 * b));
      for (boolean[] of : List.of(occupied, runEnds)) {
        for (int j = 0; j < 64; ++j) {
          bits.append(1, of[64 * b + j] ? 1 : 0);
        }
      }
      for (int j = 64 * b; j < Math.min(slots, 64 * b + 64); ++j) {
        bits.append(r, remainders[j]);
      }
    }
    return join(little(9).put((byte) r).putInt(quotients).putInt(slots), bits.toBytes());
  }

  /** Kind 6 with {@code n} 0, else kind 7: all prints of one day but the last, which is of the next. */
  static byte[] cuckoo(int[] prints, int f, int n, int buckets) {
    long[] entries = new long[4 * buckets]; // 0: free
    long[] numbers = new long[4 * buckets];
    Random random = new Random(7);
    for (int i = 0; i < prints.length; ++i) {
      long entry = range(low(prints[i]), (1L << f) - 1) + 1;
      long number = i;
      long bucket = range(high(prints[i]), buckets);
      for (int kicks = 0; entry != 0; ++kicks) {
        if (kicks == 500) {
          throw new IllegalStateException("full");
        }
        int at = (int) (4 * bucket);
        while (at < 4 * bucket + 3 && entries[at] != 0) {
          ++at;
        }
        at = entries[at] == 0 ? at : (int) (4 * bucket) + random.nextInt(4);
        long entryOut = entries[at];
        long numberOut = numbers[at];
        entries[at] = entry;
        numbers[at] = number;
        entry = entryOut;
        number = numberOut;
        bucket = (range(entry * 0x9e3779b1L & 0xFFFFFFFFL, buckets) + buckets - bucket) % buckets;
      }
    }
    Bits bits = new Bits();
    for (int at = 0; at < entries.length; ++at) {
      bits.append(f, entries[at]);
      bits.append(n, numbers[at] % (1L << n));
    }
    if (n == 0) {
      return join(little(5).put((byte) f).putInt(buckets), bits.toBytes());
    }
    ByteBuffer fields = little(32).put((byte) f).put((byte) n).putInt(buckets);
    fields.putInt(prints.length).putInt(prints.length).putShort((short) 2);
    fields.putInt(DAY).putInt(0).putInt(DAY + 1).putInt(Math.max(0, prints.length - 1));
    return join(fields, bits.toBytes());
  }

  static byte[] binaryFuse(int[] prints, int entryBytes) {
    if (prints.length == 0) {
      return new byte[6];
    }
    int lengthLog2 = Math.max(1, 31 - Integer.numberOfLeadingZeros(prints.length) - 3);
    int length = 1 << lengthLog2;
    int segments = Math.max(1, (prints.length * 3 / 2 + length) / length);
    for (int seed = 0; seed < 256; ++seed) {
      byte[] entries = tryBinaryFuse(prints, entryBytes, length, segments, seed);
      if (entries != null) {
        ByteBuffer fields = little(6).put((byte) lengthLog2).put((byte) seed).putInt(segments);
        return join(fields, entries);
      }
    }
    throw new IllegalStateException("no seed serves");
  }

  private static byte[] tryBinaryFuse(int[] prints, int entryBytes, int length, int segments, int seed) {
    int[][] places = new int[prints.length][];
    int[] wanted = new int[prints.length];
    List<List<Integer>> at = new ArrayList<>();
    for (int i = 0; i < (segments + 2) * length; ++i) {
      at.add(new ArrayList<>());
    }
    for (int i = 0; i < prints.length; ++i) {
      long x = Fingerprints.hash(prints[i]) + seed * 0x9e3779b97f4a7c15L;
      x = (x ^ x >>> 33) * 0xff51afd7ed558ccdL;
      x = (x ^ x >>> 33) * 0xc4ceb9fe1a85ec53L;
      x ^= x >>> 33;
      long first = range(x >>> 32, (long) segments * length);
      long second = (first + length) ^ ((x >>> 18) & (length - 1));
      long third = (first + 2 * length) ^ (x & (length - 1));
      places[i] = new int[] {(int) first, (int) second, (int) third};
      wanted[i] = (int) (x ^ x >>> 32) & (1 << 8 * entryBytes) - 1;
      for (int place : places[i]) {
        at.get(place).add(i);
      }
    }
    List<int[]> peeled = new ArrayList<>(); // item, place that it alone decides
    List<Integer> single = new ArrayList<>();
    for (int place = 0; place < at.size(); ++place) {
      single.add(place);
    }
    while (!single.isEmpty()) {
      int place = single.remove(single.size() - 1);
      if (at.get(place).size() == 1) {
        Integer item = at.get(place).get(0);
        peeled.add(new int[] {item, place});
        for (int other : places[item]) {
          at.get(other).remove(item);
          single.add(other);
        }
      }
    }
    if (peeled.size() != prints.length) {
      return null;
    }
    int[] entries = new int[at.size()];
    for (int i = peeled.size() - 1; i >= 0; --i) {
      int[] p = places[peeled.get(i)[0]];
      int place = peeled.get(i)[1];
      entries[place] = 0;
      entries[place] = wanted[peeled.get(i)[0]] ^ entries[p[0]] ^ entries[p[1]] ^ entries[p[2]];
    }
    Bits bits = new Bits();
    for (int entry : entries) {
      bits.append(8 * entryBytes, entry);
    }
    return bits.toBytes();
  }

  /** The prints in turn among so many days, the newest being {@link #DAY}. */
  static byte[] dayChain(int[] prints, int days) {
    ByteBuffer rows = little(4 + 20 * days).putInt(days);
    byte[][] filters = new byte[days][];
    for (int d = 0; d < days; ++d) {
      final int day = d;
      int[] own = IntStream.range(0, prints.length)
          .filter(i -> i % days == day)
          .map(i -> prints[i])
          .toArray();
      filters[d] = splitBlockBloom(own, 1 + own.length / 15);
      int start = (DAY - d) * 86_400;
      rows.putInt(DAY - d).putInt(own.length).putInt(start + 100).putInt(start + 200).putInt(filters[d].length / 32);
    }
    return join(rows, filters);
  }

  static byte[] fingerprints(int[] prints) {
    long[] sorted = Arrays.stream(prints).mapToLong(p -> p & 0xFFFFFFFFL).sorted().distinct().toArray();
    int k = sorted.length == 0 ? 0 : Long.numberOfLeadingZeros(sorted.length) - 32;
    Bits bits = new Bits();
    long smallest = 0;
    for (long value : sorted) {
      long gap = value - smallest;
      for (long zeros = gap >>> k; zeros > 0; --zeros) {
        bits.append(1, 0);
      }
      bits.append(1, 1);
      bits.append(k, gap % (1L << k));
      smallest = value + 1;
    }
    return join(little(5).put((byte) k).putInt(sorted.length), bits.toBytes());
  }
}
