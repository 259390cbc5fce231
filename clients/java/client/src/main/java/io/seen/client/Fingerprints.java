package io.seen.client;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.nio.charset.StandardCharsets;

/**
 * An id's 32 bits: the upper half of XXH64, seed 0, of its bytes. Computed once, a fingerprint can be looked up in many
 * snapshots. All methods are pure; any thread.
 */
public final class Fingerprints {
  static final Hasher64 XXH64 = Hashing.xxh64();
  static final int NEAR = 1;
  static final int GROUP = 2;

  private static final long PRIME_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME_3 = 0x165667B19E3779F9L;
  private static final long PRIME_5 = 0x27D4EB2F165667C5L;
  private static final int DIGITS_MAX = 20;

  private Fingerprints() {}

  /** Of a string id: of its UTF-8 bytes as they are, neither normalised nor trimmed. */
  public static int of(String id) {
    return of(id.getBytes(StandardCharsets.UTF_8));
  }

  /** Of an integer id: of its decimal string. */
  public static int of(long id) {
    byte[] text = new byte[DIGITS_MAX];
    int at = DIGITS_MAX;
    long rest = id;
    do {
      text[--at] = (byte) ('0' + Math.abs(rest % 10));
      rest /= 10;
    } while (rest != 0);
    if (id < 0) {
      text[--at] = '-';
    }
    return (int) (XXH64.hashBytesToLong(text, at, DIGITS_MAX - at) >>> 32);
  }

  /** Of an id's UTF-8 bytes. */
  public static int of(byte[] utf8) {
    return (int) (XXH64.hashBytesToLong(utf8, 0, utf8.length) >>> 32);
  }

  /**
   * As what the filter of what is similar knows an item ({@code NEAR}) or a group ({@code GROUP}): the upper half of
   * XXH64 of the fingerprint's four bytes and then {@code domain}, likewise.
   */
  static int inDomain(int fingerprint, int domain) {
    long h = PRIME_5 + Integer.BYTES + 1;
    h ^= (fingerprint & 0xFFFFFFFFL) * PRIME_1;
    h = Long.rotateLeft(h, 23) * PRIME_2 + PRIME_3;
    h = Long.rotateLeft(h ^ domain * PRIME_5, 11) * PRIME_1;
    h = (h ^ (h >>> 33)) * PRIME_2;
    h = (h ^ (h >>> 29)) * PRIME_3;
    return (int) ((h ^ (h >>> 32)) >>> 32);
  }

  /**
   * XXH64 of a fingerprint's four bytes, little-endian, which filters go by. The library's way for an int makes an
   * object; this is the same for four bytes exactly.
   */
  static long hash(int fingerprint) {
    long h = PRIME_5 + Integer.BYTES;
    h ^= (fingerprint & 0xFFFFFFFFL) * PRIME_1;
    h = Long.rotateLeft(h, 23) * PRIME_2 + PRIME_3;
    h = (h ^ (h >>> 33)) * PRIME_2;
    h = (h ^ (h >>> 29)) * PRIME_3;
    return h ^ (h >>> 32);
  }
}
