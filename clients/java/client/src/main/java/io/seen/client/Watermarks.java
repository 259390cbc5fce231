package io.seen.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Tells a stale snapshot from a quiet user's: the last watermark of each input partition, fed with the records of the
 * topic of watermarks. A watermark vouches for the snapshots sent before it: feed it only when all that were in the
 * snapshot topic at its arrival have been read. Any thread.
 */
public final class Watermarks {
  private final ConcurrentMap<Integer, Watermark> byPartition = new ConcurrentHashMap<>();

  /**
   * A record of the topic; a null value forgets the partition.
   *
   * @throws RefusedException if it isn't a watermark of a version known; the partition keeps the one before
   */
  public void accept(byte[] key, byte[] value) throws RefusedException {
    int partition = partitionOf(key);
    if (value == null) {
      byPartition.remove(partition);
    } else {
      byPartition.put(partition, parse(partition, value));
    }
  }

  /** The value of a key for this partition. */
  static Watermark parse(int partition, byte[] value) throws RefusedException {
    Watermark watermark = Watermark.parse(value);
    if (watermark.partition() != partition) {
      throw new MalformedException("watermark: partition " + watermark.partition() + " under the key " + partition);
    }
    return watermark;
  }

  /** The key's number in decimal, as it is written and in no other way. */
  static int partitionOf(byte[] key) throws MalformedException {
    String name = key == null ? "null" : new String(key, StandardCharsets.UTF_8);
    try {
      int partition = Integer.parseInt(name);
      if (partition >= 0 && name.equals(Integer.toString(partition))) {
        return partition;
      }
    } catch (NumberFormatException notANumber) {
      throw new MalformedException("watermark: the key " + name + " is no partition", notANumber);
    }
    throw new MalformedException("watermark: the key " + name + " is no partition");
  }

  /** The last of an input partition. */
  public Optional<Watermark> of(int partition) {
    return Optional.ofNullable(byPartition.get(partition));
  }

  /** How fresh a snapshot is: the later of its own time and that of its partition's watermark. */
  public Instant asOf(Snapshot snapshot) {
    Watermark watermark = byPartition.get(snapshot.partition());
    Instant own = snapshot.asOf();
    return watermark == null || own.isAfter(watermark.asOf()) ? own : watermark.asOf();
  }

  /** How long before {@code now} that is; never below zero. */
  public Duration staleBy(Snapshot snapshot, Instant now) {
    return Watermark.staleBy(asOf(snapshot), now);
  }
}
