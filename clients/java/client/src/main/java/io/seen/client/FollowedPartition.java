package io.seen.client;

import java.util.ArrayList;
import java.util.List;

/** What a reader knows of one partition, without its snapshots: "The reader" of schemas/update.md. */
final class FollowedPartition {
  private static final int BEATS_MAX = 60; // that an unnamed generation is kept for
  private static final long NONE = -1;

  final int partition;
  final List<Generation> generations = new ArrayList<>(1);
  private final Additions additions;
  private Generation current; // of the newest beat; null: none
  private long publishedTo = NONE; // with snapshotsTo the base
  private long snapshotsTo;
  private long standsAt = NONE;
  private long beatLog = NONE;
  private long log = NONE; // that the reader began to read
  private String movedTo; // null: nowhere
  private long completeSinceMs = NONE;

  FollowedPartition(int partition, Additions additions) {
    this.partition = partition;
    this.additions = additions;
  }

  /** {@code beat}: null if the partition has none any more. {@code topic}: of the snapshots; null: not known. */
  void takeBeat(Watermark beat, String filter, String topic) {
    long named = beat == null ? NONE : beat.generation().orElse(NONE);
    if (current != null && current.number != named) {
      current.isPast = true;
      current = null;
    }
    publishedTo = NONE;
    movedTo = null;
    completeSinceMs = NONE;
    if (named != NONE) {
      current = generation(named);
      current.isPast = false;
      beatLog = beat.snapshotsLog(filter);
      log = log == NONE ? beatLog : log;
      movedTo = beat.snapshotsTopic(filter).filter(other -> topic != null && !other.equals(topic)).orElse(null);
      completeSinceMs = beat.completeSinceMs(filter).orElse(NONE);
      if (beat.publishedTo().isPresent() && beat.snapshotsTo(filter).isPresent()) {
        publishedTo = beat.publishedTo().getAsLong();
        snapshotsTo = beat.snapshotsTo(filter).getAsLong();
      }
    }
    generations.removeIf(this::isForgotten);
    settle();
  }

  private boolean isForgotten(Generation generation) {
    if (generation == current || generation.isPast || ++generation.beatsWithout < BEATS_MAX) {
      return false;
    }
    additions.dropAll(generation);
    return true;
  }

  /** {@code bit}: the filter's in the masks of the update. */
  void takeUpdate(Update update, int bit, long record) {
    Generation generation = generation(update.generation());
    long to = update.to();
    if (update.from() == to && to < Long.MAX_VALUE) {
      ++to; // a part of the event at this offset: only what is beyond the event has its additions
    }
    for (Update.Section section : update.sections()) {
      if ((section.mask() >>> bit & 1) == 1) {
        additions.add(generation, section, record, to);
      }
    }
    generation.cover(update);
    settle();
  }

  void standsAt(long position) {
    standsAt = position;
    settle();
  }

  void startOver() {
    log = beatLog;
    standsAt = NONE;
    generations.forEach(Generation::startOver);
  }

  private Generation generation(long number) {
    Generation found = null;
    for (Generation generation : generations) {
      found = generation.number == number ? generation : found;
    }
    if (found == null) {
      found = new Generation(partition, number);
      generations.add(found);
    }
    found.beatsWithout = 0;
    return found;
  }

  private void settle() {
    if (current == null || publishedTo == NONE || standsAt == NONE || standsAt < snapshotsTo || mustRestart()
        || movedTo != null) {
      return;
    }
    current.settle(publishedTo);
    additions.dropTo(current, publishedTo);
    for (Generation generation : generations) {
      if (generation.isPast) {
        additions.dropAll(generation);
        generation.forget();
      }
    }
  }

  boolean mustRestart() {
    return log != beatLog;
  }

  String movedTo() {
    return movedTo;
  }

  long completeSinceMs() {
    return completeSinceMs;
  }

  long completeTo() {
    return current == null ? NONE : current.completeTo;
  }

  long asOfMs() {
    return current == null ? NONE : current.freshAsOfMs();
  }
}
