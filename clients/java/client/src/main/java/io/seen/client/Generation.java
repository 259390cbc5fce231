package io.seen.client;

/** What a reader knows of one life of a partition's state: "The reader" of schemas/update.md. */
final class Generation {
  private static final long UNKNOWN = -1;

  final int partition;
  final long number;
  final Additions.Queue queue = new Additions.Queue();
  boolean isPast; // a beat named it, and the newest doesn't
  int beatsWithout; // since the last record of it; counted while no beat has named it

  long completeTo = UNKNOWN; // each live event below it is known,
  long asOfMs = UNKNOWN; // and with that all that the log held then
  private long settledTo = UNKNOWN; // the highest published_to: the additions below it are gone
  private long runFrom = UNKNOWN; // the run beyond a gap
  private long runTo;
  private long runAsOfMs;
  private long partsOffset = UNKNOWN; // of the event there, so many parts are known
  private int parts;
  private long lostTo = UNKNOWN; // of the records that were dropped for the limit
  private long lostAsOfMs;

  Generation(int partition, long number) {
    this.partition = partition;
    this.number = number;
  }

  /** The reader has the update's additions. If a part is missing, it has only what comes behind their event. */
  void cover(Update update) {
    long from = update.from();
    if (update.part() > 0 && (partsOffset != from || parts != update.part())) {
      if (from == update.to()) {
        return;
      }
      ++from;
    } else if (update.isPart()) {
      partsOffset = from;
      parts = update.part() + 1;
    }
    if (completeTo != UNKNOWN && from <= completeTo) {
      if (update.to() >= completeTo) {
        completeTo = update.to();
        asOfMs = newer(asOfMs, update.asOfMs());
      }
    } else if (runFrom == UNKNOWN || from > runTo) {
      runFrom = from;
      runTo = update.to();
      runAsOfMs = update.asOfMs();
    } else if (update.to() >= runFrom) {
      runFrom = Math.min(runFrom, from);
      if (update.to() >= runTo) {
        runTo = update.to();
        runAsOfMs = newer(runAsOfMs, update.asOfMs());
      }
    }
  }

  /** The newest counts, not the greatest: the daemon's clock may have been ahead. */
  private static long newer(long knownMs, long asOfMs) {
    return asOfMs == UNKNOWN ? knownMs : asOfMs;
  }

  /** The reader has the snapshots that have each change below {@code publishedTo}. */
  void settle(long publishedTo) {
    completeTo = Math.max(completeTo, publishedTo);
    settledTo = Math.max(settledTo, publishedTo);
    if (lostTo <= publishedTo) {
      lostTo = UNKNOWN;
    }
    if (runFrom != UNKNOWN && runFrom <= completeTo) {
      if (runTo >= completeTo) {
        completeTo = runTo;
        asOfMs = newer(asOfMs, runAsOfMs);
      }
      runFrom = UNKNOWN;
    }
  }

  /** Older snapshots are about to replace newer ones. The additions still hold what lies beyond `settledTo`. */
  void startOver() {
    if (completeTo != UNKNOWN && runFrom == UNKNOWN) {
      runFrom = settledTo;
      runTo = completeTo;
      runAsOfMs = asOfMs;
    }
    forgetComplete();
  }

  private void forgetComplete() {
    completeTo = UNKNOWN;
    asOfMs = UNKNOWN;
    settledTo = UNKNOWN;
    partsOffset = UNKNOWN;
  }

  /** The reader has dropped this for the limit. */
  void lose(Additions.Block block) {
    lostAsOfMs = lostTo == UNKNOWN ? block.asOfBefore : Math.min(lostAsOfMs, block.asOfBefore);
    lostTo = Math.max(lostTo, block.to);
  }

  /** All that the log held then is known; -1: not known. */
  long freshAsOfMs() {
    return completeTo == UNKNOWN ? UNKNOWN : lostTo == UNKNOWN ? asOfMs : Math.min(asOfMs, lostAsOfMs);
  }

  void forget() {
    forgetComplete();
    runFrom = UNKNOWN;
    lostTo = UNKNOWN;
  }
}
