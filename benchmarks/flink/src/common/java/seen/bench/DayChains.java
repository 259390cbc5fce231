package seen.bench;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A user's whole filter as one value: each day's chain (i32 day, i32 bytes, the chain), and at the end what
 * it covers of the input (i32 partition, i64 offset); all little-endian.
 */
public final class DayChains {
  public static final int COVERED_BYTES = 12;
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private byte[] bytes = new byte[4096];
  private int size;

  public DayChains clear() {
    size = 0;
    return this;
  }

  public DayChains append(int day, byte[] chain) {
    return append(day, chain, 0, chain.length);
  }

  private DayChains append(int day, byte[] from, int at, int count) {
    reserve(8 + count);
    INT.set(bytes, size, day);
    INT.set(bytes, size + 4, count);
    System.arraycopy(from, at, bytes, size + 8, count);
    size += 8 + count;
    return this;
  }

  public byte[] covering(int partition, long offset) {
    reserve(COVERED_BYTES);
    INT.set(bytes, size, partition);
    LONG.set(bytes, size + 4, offset);
    return Arrays.copyOf(bytes, size + COVERED_BYTES);
  }

  /** `value` as `covering` gave it (or null), with the exposure, and without days before `firstDay`. */
  public byte[] withExposure(byte[] value, Exposure exposure, int firstDay, BloomChain filters) {
    clear();
    int day = exposure.day();
    byte[] changed = null;
    if (value != null) {
      int end = value.length - COVERED_BYTES;
      for (int at = 0; at < end;) {
        int itsDay = (int) INT.get(value, at);
        int itsBytes = (int) INT.get(value, at + 4);
        if (itsDay == day) {
          changed = Arrays.copyOfRange(value, at + 8, at + 8 + itsBytes);
        } else if (itsDay >= firstDay) {
          append(itsDay, value, at + 8, itsBytes);
        }
        at += 8 + itsBytes;
      }
    }
    if (day >= firstDay)
      append(day, filters.add(changed, exposure.items, exposure.count));
    return covering(exposure.partition, exposure.offset);
  }

  private void reserve(int more) {
    if (size + more > bytes.length)
      bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * bytes.length));
  }
}
