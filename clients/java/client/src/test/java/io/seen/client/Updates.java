package io.seen.client;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Updates made for tests, after schemas/update.md. */
final class Updates {
  static final long AS_OF_MS = 1_763_700_000_123L;

  private final int partition;
  private final long generation;
  private final long from;
  private final long to;
  private int part;
  private long asOfMs = AS_OF_MS;
  private final List<String> filters = new ArrayList<>(List.of("F"));
  private final List<byte[]> sections = new ArrayList<>();

  private Updates(int partition, long generation, long from, long to) {
    this.partition = partition;
    this.generation = generation;
    this.from = from;
    this.to = to;
  }

  static Updates of(int partition, long generation, long from, long to) {
    return new Updates(partition, generation, from, to);
  }

  Updates part(int number) {
    part = number;
    return this;
  }

  Updates asOf(long ms) {
    asOfMs = ms;
    return this;
  }

  Updates filters(String... names) {
    filters.clear();
    filters.addAll(List.of(names));
    return this;
  }

  /** A user's items have been seen. */
  Updates seen(String user, String... items) {
    int[] prints = new int[items.length];
    for (int i = 0; i < items.length; ++i) {
      prints[i] = Fingerprints.of(items[i]);
    }
    return section(1, 0, 0, new String[] {user}, prints);
  }

  Updates section(int mask, int kind, long untilSecond, String[] users, int[]... prints) {
    long[] hashes = new long[users.length];
    for (int i = 0; i < users.length; ++i) {
      hashes[i] = hash(users[i]);
    }
    return section(mask, kind, untilSecond, hashes, prints);
  }

  Updates section(int mask, int kind, long untilSecond, long[] users, int[]... prints) {
    int items = 0;
    for (int[] ofUser : prints) {
      items += ofUser.length;
    }
    ByteBuffer bytes = Payloads.little(16 + 10 * users.length + 4 * items);
    bytes.putShort((short) mask).put((byte) kind).put((byte) 0xEE).putInt((int) untilSecond);
    bytes.putInt(users.length).putInt(items);
    for (long user : users) {
      bytes.putLong(user);
    }
    for (int[] ofUser : prints) {
      bytes.putShort((short) ofUser.length);
    }
    for (int[] ofUser : prints) {
      for (int print : ofUser) {
        bytes.putInt(print);
      }
    }
    sections.add(bytes.array());
    return this;
  }

  byte[] bytes() {
    int end = 49;
    for (String filter : filters) {
      end += 1 + filter.getBytes(StandardCharsets.UTF_8).length;
    }
    int headerBytes = Math.max(56, end) + 3; // with a field of a later writer
    int size = headerBytes;
    for (byte[] section : sections) {
      size += section.length;
    }
    ByteBuffer bytes = Payloads.little(size);
    bytes.putInt(0x55454553).put((byte) 1).put((byte) part).putShort((short) headerBytes).putInt(0).putInt(partition);
    bytes.putLong(generation).putLong(from).putLong(to).putLong(asOfMs).put((byte) filters.size());
    for (String filter : filters) {
      byte[] name = filter.getBytes(StandardCharsets.UTF_8);
      bytes.put((byte) name.length).put(name);
    }
    while (bytes.position() < headerBytes) {
      bytes.put((byte) 0xDD);
    }
    sections.forEach(bytes::put);
    return signed(bytes.array());
  }

  static byte[] signed(byte[] update) {
    return Envelopes.signed(update, 8);
  }

  static long hash(String user) {
    byte[] utf8 = user.getBytes(StandardCharsets.UTF_8);
    return Fingerprints.XXH64.hashBytesToLong(utf8, 0, utf8.length);
  }
}
