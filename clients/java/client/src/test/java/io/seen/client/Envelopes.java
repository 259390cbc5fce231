package io.seen.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;

/** Snapshots made for tests. */
final class Envelopes {
  static final int HEADER_BYTES = 56;
  static final long AS_OF_MS = 1_763_700_000_123L;
  static final int PARTITION = 3;

  private Envelopes() {}

  static byte[] of(Kind kind, int[] prints) {
    return around(kind.format(), Payloads.of(kind, prints), prints.length);
  }

  static byte[] around(int format, byte[] payload, int itemCount) {
    ByteBuffer bytes = Payloads.little(HEADER_BYTES + payload.length);
    bytes.putInt(0x4E454553).put((byte) 1).put((byte) format).put((byte) 1).put((byte) 0);
    bytes.putInt(HEADER_BYTES).putInt(itemCount).putLong(AS_OF_MS).putInt(Payloads.DAY).putInt(PARTITION);
    bytes.putLong(123_456_789L).putDouble(0.01).putInt(payload.length).putInt(0).put(payload);
    return signed(bytes.array());
  }

  /** The snapshot with the payload of what is similar at its end. */
  static byte[] withSimilar(byte[] snapshot, int format, byte[] payload) {
    ByteBuffer bytes = Payloads.little(snapshot.length + 16 + payload.length);
    bytes.put(snapshot, 0, HEADER_BYTES).putInt(payload.length).putInt(format).putInt(12).putInt(0);
    bytes.put(snapshot, HEADER_BYTES, snapshot.length - HEADER_BYTES).put(payload);
    bytes.put(7, (byte) 1).putInt(8, HEADER_BYTES + 16);
    bytes.putInt(48, snapshot.length - HEADER_BYTES + payload.length);
    return signed(bytes.array());
  }

  /** The snapshot as a filter with updates has it. */
  static byte[] withUpdates(byte[] snapshot, long generation, int partition, long inputOffset) {
    int at = (snapshot[7] & 1) == 0 ? HEADER_BYTES : HEADER_BYTES + 16;
    ByteBuffer bytes = Payloads.little(snapshot.length + 8);
    bytes.put(snapshot, 0, at).putLong(generation).put(snapshot, at, snapshot.length - at);
    bytes.put(7, (byte) (snapshot[7] | 2)).putInt(8, at + 8).putInt(28, partition).putLong(32, inputOffset);
    return signed(bytes.array());
  }

  /** With the checksum made right; all else as it is. */
  static byte[] signed(byte[] snapshot) {
    return signed(snapshot, 52);
  }

  static byte[] signed(byte[] bytes, int checksumAt) {
    byte[] checked = new byte[bytes.length - 4];
    System.arraycopy(bytes, 0, checked, 0, checksumAt);
    System.arraycopy(bytes, checksumAt + 4, checked, checksumAt, bytes.length - checksumAt - 4);
    int checksum = (int) Fingerprints.XXH64.hashBytesToLong(checked, 0, checked.length);
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(checksumAt, checksum);
    return bytes;
  }

  /** Different prints, always the same for a seed. */
  static int[] prints(int count, long seed) {
    return new Random(seed).ints().distinct().limit(count).toArray();
  }
}
