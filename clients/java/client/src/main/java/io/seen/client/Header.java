package io.seen.client;

import com.dynatrace.hash4j.hashing.ByteAccess;
import com.dynatrace.hash4j.hashing.HashStream64;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The envelope's fields, checked in the order that schemas/snapshot.md gives. */
final class Header {
  private static final int MAGIC = 0x4E454553; // "SEEN"
  private static final int VERSION = 1;
  private static final int HASH_XXH64 = 1;
  private static final int BYTES_MIN = 56;
  private static final int BYTES_MAX = 4096;
  private static final int BYTES_MIN_WITH_SIMILAR = 72;
  private static final int CHECKSUM_AT = 52;
  private static final int FLAG_SIMILAR = 1;
  private static final int FLAG_UPDATES = 2;
  private static final double RATE_MAX = 0.5;
  private static final ByteAccess<ByteBuffer> ACCESS = ByteAccess.forByteBuffer(ByteOrder.LITTLE_ENDIAN);

  final Kind kind;
  final int bytes;
  final long itemCount;
  final long asOfMs;
  final int horizonDay;
  final int partition;
  final long inputOffset;
  final double falsePositiveRate;
  final Kind similarKind; // null: nothing is said of what is similar
  final int similarBytes;
  final long similarCount;
  final long generation; // 0: of a filter without updates

  /** {@code snapshot}: from position 0 to its limit, little-endian. */
  Header(ByteBuffer snapshot, boolean readsUpdates) throws RefusedException {
    int size = snapshot.limit();
    if (size < 4 || snapshot.getInt(0) != MAGIC) {
      throw new MalformedException(
          "snapshot: " + (size == 0 ? "no bytes; a tombstone is a null value" : "does not start with \"SEEN\""));
    }
    if (size < BYTES_MIN) {
      throw new MalformedException("snapshot: cut off: " + size + " bytes; the header alone has " + BYTES_MIN);
    }
    refuseUnlessKnown("version", snapshot.get(4) & 0xFF, VERSION);
    long headerBytes = snapshot.getInt(8) & 0xFFFFFFFFL;
    if (headerBytes < BYTES_MIN || headerBytes > BYTES_MAX || headerBytes % 8 != 0) {
      throw new MalformedException(
          "snapshot: header_bytes " + headerBytes + "; a multiple of 8 in 56..4096 is allowed");
    }
    long told = headerBytes + (snapshot.getInt(48) & 0xFFFFFFFFL);
    if (size != told) {
      throw new MalformedException("snapshot: " + size + " bytes; its header says " + told);
    }
    if (snapshot.getInt(CHECKSUM_AT) != checksum(snapshot, CHECKSUM_AT)) {
      throw new MalformedException("snapshot: the checksum does not match: damaged on the way");
    }
    kind = Kind.ofFormat(snapshot.get(5) & 0xFF);
    refuseUnlessKnown("hash", snapshot.get(6) & 0xFF, HASH_XXH64);
    int flags = snapshot.get(7) & 0xFF;
    if ((flags & ~(FLAG_SIMILAR | FLAG_UPDATES)) != 0) {
      throw new UnknownFormatException("snapshot: flags " + flags + "; this reader knows bits 0 and 1");
    }
    if ((flags & FLAG_UPDATES) != 0 && !readsUpdates) {
      throw new UnknownFormatException("snapshot: flags " + flags + ", bit 1",
          "this filter publishes updates; read them as well (FilterReader, schemas/update.md)");
    }
    falsePositiveRate = snapshot.getDouble(40);
    if (!(falsePositiveRate > 0 && falsePositiveRate <= RATE_MAX)) {
      throw new MalformedException(
          "snapshot: false_positive_rate " + falsePositiveRate + "; above 0 and at most 0.5 is allowed");
    }
    bytes = (int) headerBytes;
    itemCount = snapshot.getInt(12) & 0xFFFFFFFFL;
    asOfMs = snapshot.getLong(16);
    horizonDay = snapshot.getInt(24);
    partition = snapshot.getInt(28);
    inputOffset = snapshot.getLong(32);
    boolean hasSimilar = (flags & FLAG_SIMILAR) != 0;
    similarKind = hasSimilar ? similarKindOf(snapshot, bytes) : null;
    similarBytes = hasSimilar ? snapshot.getInt(56) : 0;
    similarCount = hasSimilar ? snapshot.getInt(64) & 0xFFFFFFFFL : 0;
    generation = (flags & FLAG_UPDATES) == 0 ? 0
        : generationOf(snapshot, bytes, hasSimilar ? BYTES_MIN_WITH_SIMILAR : BYTES_MIN);
  }

  private static Kind similarKindOf(ByteBuffer snapshot, int headerBytes) throws RefusedException {
    if (headerBytes < BYTES_MIN_WITH_SIMILAR) {
      throw new MalformedException(
          "snapshot: header_bytes " + headerBytes + "; with bit 0 of flags " + BYTES_MIN_WITH_SIMILAR + " or more");
    }
    long similar = snapshot.getInt(56) & 0xFFFFFFFFL;
    int payloadBytes = snapshot.limit() - headerBytes;
    if (similar > payloadBytes) {
      throw new MalformedException("snapshot: similar_bytes " + similar + " of a payload of " + payloadBytes);
    }
    return Kind.ofSimilarFormat(snapshot.get(60) & 0xFF);
  }

  private static long generationOf(ByteBuffer snapshot, int headerBytes, int at) throws MalformedException {
    if (headerBytes < at + Long.BYTES) {
      throw new MalformedException("snapshot: header_bytes " + headerBytes + "; with bit 1 of flags "
          + (at + Long.BYTES) + " or more");
    }
    long generation = snapshot.getLong(at);
    if (generation < 1) {
      throw new MalformedException("snapshot: generation " + generation + "; 1 or more is allowed");
    }
    return generation;
  }

  private static void refuseUnlessKnown(String field, int value, int known) throws UnknownFormatException {
    if (value != known) {
      throw new UnknownFormatException("snapshot: " + field + " " + value + "; this reader knows " + known);
    }
  }

  /** The lower half of XXH64 of all bytes but the checksum's own four. */
  static int checksum(ByteBuffer all, int checksumAt) {
    int size = all.limit();
    int from = checksumAt + Integer.BYTES;
    HashStream64 stream = Fingerprints.XXH64.hashStream();
    if (all.hasArray()) {
      int start = all.arrayOffset();
      stream.putBytes(all.array(), start, checksumAt);
      return (int) stream.putBytes(all.array(), start + from, size - from).getAsLong();
    }
    stream.putBytes(all, 0, checksumAt, ACCESS);
    return (int) stream.putBytes(all, from, size - from, ACCESS).getAsLong();
  }
}
