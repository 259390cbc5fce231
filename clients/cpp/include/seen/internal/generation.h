#pragma once
// How far a reader of updates knows the live events of one generation of a partition. schemas/update.md, "The
// reader".

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "seen/update.h"

namespace seen::client::internal {

struct Generation {
  /// What lies beyond a gap.
  struct Run {
    std::int64_t from, to, as_of_ms;
  };
  /// The first `count` parts of the event at `offset` are known.
  struct Parts {
    std::int64_t offset;
    int count;
  };
  /// What the limit of additions has dropped.
  struct Lost {
    std::int64_t to;        // of the highest record
    std::int64_t as_of_ms;  // the lowest before one of them came
  };

  explicit Generation(std::int64_t its_number) : number(its_number) {}

  bool HasAdditions() const { return lowest_to != std::numeric_limits<std::int64_t>::max(); }
  /// All but that it is a past one.
  void Forget() {
    *this = Generation(number);
    is_past = true;
  }

  /// A record of this generation.
  void Take(const Update& update) {
    const std::int64_t to = update.to(), as_of = update.as_of_ms();
    std::int64_t from = update.from();
    const int part = update.part();
    // If a part is missing, the record covers only what comes behind its event.
    if (part != 0 && (parts.offset != from || parts.count != part)) {
      if (to == from) return;
      ++from;
    } else if (update.is_part()) {
      parts = {from, part + 1};
    }
    if (complete && from <= *complete) {
      if (to < *complete) return;
      complete = to;
      SetAsOf(as_of);
    } else if (!run || from > run->to) {
      run = Run{from, to, as_of};
    } else if (to >= run->from) {
      const bool is_newest = to >= run->to && as_of != -1;
      run = Run{std::min(from, run->from), std::max(to, run->to), is_newest ? as_of : run->as_of_ms};
    }
  }

  /// The newest counts, not the greatest: a clock that was ahead is put right.
  void SetAsOf(std::int64_t newest_ms) {
    if (newest_ms != -1) as_of_ms = newest_ms;
  }

  /// Snapshots have all below `published_to`.
  void SettleTo(std::int64_t published_to) {
    complete = complete ? std::max(*complete, published_to) : published_to;
    settled = std::max(settled, published_to);
    if (lost && lost->to <= published_to) lost.reset();
    if (!run || run->from > *complete) return;
    if (run->to >= *complete) {
      complete = run->to;
      SetAsOf(run->as_of_ms);
    }
    run.reset();
  }

  /// Older snapshots are about to replace newer ones. The additions still hold what lies beyond `settled`.
  void StartOver() {
    if (complete && !run) run = Run{settled, *complete, as_of_ms};
    complete.reset();
    settled = as_of_ms = -1;
    parts = {-1, 0};
  }

  /// The limit of additions drops a record of this end, before which the reader was as fresh as that.
  void Lose(std::int64_t to, std::int64_t as_of_before_ms) {
    lost = lost ? Lost{std::max(lost->to, to), std::min(lost->as_of_ms, as_of_before_ms)}
                : Lost{to, as_of_before_ms};
  }

  /// -1: the reader can't say.
  std::int64_t AsOfMs() const {
    if (!complete) return -1;
    return lost ? std::min(lost->as_of_ms, as_of_ms) : as_of_ms;
  }

  std::int64_t number;
  std::optional<std::int64_t> complete;  // each live event below it is known
  std::int64_t as_of_ms = -1;            // and with it all that the log held then; -1: not known
  std::int64_t settled = -1;             // the highest `published_to`: the additions below it are gone
  std::optional<Run> run;
  Parts parts{-1, 0};
  std::optional<Lost> lost;
  std::int64_t lowest_to = std::numeric_limits<std::int64_t>::max();  // no addition has a lower `to`
  int beats = 0;                                                      // since its last record
  bool is_past = false;  // a beat has named it, and a later one another or none
};

}  // namespace seen::client::internal
