package seen.bench;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A Bloom filter that grows in steps: when the last part is full, one of four times the capacity follows it,
 * at half its error rate, so that all parts together stay within the rate (Almeida et al. 2007, "Scalable
 * Bloom Filters").
 *
 * <p>Bytes, little-endian, each part: u16 capacity, u16 items in it, u32 bytes of bits, u8 hashes, the bits.
 * Positions are by enhanced double hashing (Dillinger and Manolios 2004) of the item's 64-bit hash.
 */
public final class BloomChain {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int HEADER = 9;
  private static final int FIRST_CAPACITY = 16;
  private static final int CAPACITY_MAX = 16_384;

  private final BloomSizing[] parts = new BloomSizing[24];

  /** `falsePositiveRate`: of one chain, however long it grows. */
  public BloomChain(double falsePositiveRate) {
    for (int part = 0; part < parts.length; part++) {
      parts[part] = BloomSizing.of(capacity(part), falsePositiveRate / Math.pow(2, part + 1));
    }
  }

  private static int capacity(int part) {
    return (int) Math.min(CAPACITY_MAX, (long) FIRST_CAPACITY << Math.min(30, 2 * part));
  }

  /** `chain` with the items, changed in place unless it has to grow; null is an empty one. */
  public byte[] add(byte[] chain, long[] items, int count) {
    if (chain == null)
      chain = grown(new byte[0], 0);
    for (int i = 0; i < count; i++) {
      int part = 0;
      int at = 0;
      boolean known = false;
      while (true) {
        int bytes = (int) INT.get(chain, at + 4);
        known = contains(chain, at + HEADER, bytes, chain[at + 8], items[i]);
        if (known || at + HEADER + bytes == chain.length)
          break;
        at += HEADER + bytes;
        part++;
      }
      if (known)
        continue;
      if (u16(chain, at + 2) == u16(chain, at)) {
        at = chain.length;
        chain = grown(chain, part + 1);
      }
      set(chain, at + HEADER, (int) INT.get(chain, at + 4), chain[at + 8], items[i]);
      SHORT.set(chain, at + 2, (short) (u16(chain, at + 2) + 1));
    }
    return chain;
  }

  /** One part of the right size for items that are known at once. */
  public static byte[] of(long[] items, int count, double falsePositiveRate) {
    byte[] chain = appended(new byte[0], count, BloomSizing.of(Math.max(1, count), falsePositiveRate));
    int bytes = chain.length - HEADER;
    for (int i = 0; i < count; i++) set(chain, HEADER, bytes, chain[8], items[i]);
    SHORT.set(chain, 2, (short) Math.min(65_535, count));
    return chain;
  }

  private byte[] grown(byte[] chain, int part) {
    int last = Math.min(part, parts.length - 1);
    return appended(chain, capacity(last), parts[last]);
  }

  private static byte[] appended(byte[] chain, int capacity, BloomSizing sizing) {
    int at = chain.length;
    byte[] longer = Arrays.copyOf(chain, at + HEADER + sizing.bytes());
    SHORT.set(longer, at, (short) Math.min(65_535, capacity));
    INT.set(longer, at + 4, sizing.bytes());
    longer[at + 8] = (byte) sizing.hashes();
    return longer;
  }

  private static int u16(byte[] chain, int at) {
    return (short) SHORT.get(chain, at) & 0xFFFF;
  }

  private static boolean contains(byte[] chain, int at, int bytes, int hashes, long hash) {
    int h1 = (int) hash;
    int h2 = (int) (hash >>> 32);
    for (int i = 1; i <= hashes; i++) {
      int bit = position(h1, bytes);
      if ((chain[at + (bit >>> 3)] & 1 << (bit & 7)) == 0)
        return false;
      h1 += h2;
      h2 += i;
    }
    return true;
  }

  private static void set(byte[] chain, int at, int bytes, int hashes, long hash) {
    int h1 = (int) hash;
    int h2 = (int) (hash >>> 32);
    for (int i = 1; i <= hashes; i++) {
      int bit = position(h1, bytes);
      chain[at + (bit >>> 3)] |= (byte) (1 << (bit & 7));
      h1 += h2;
      h2 += i;
    }
  }

  private static int position(int h, int bytes) {
    return (int) ((h & 0xFFFFFFFFL) * (bytes * 8L) >>> 32);
  }
}
