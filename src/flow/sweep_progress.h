#pragma once
// How far the daily sweep of one partition has come, and where its snapshot topics ended, kept in its store:
// schemas/store.md, "Sweep". Pure.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/store_port.h"
#include "model/day.h"

namespace seen {

struct SweepProgress {
  /// A filter as it was when its users were last swept.
  struct Filter {
    FilterId id;
    uint64_t rendering = 0;  // FilterPolicy::RenderingHash
    bool whole = false;      // of the run under way: all its users, not only those whose set shrank
    int64_t topic_end = -1;  // its snapshot topic held the offsets below it; -1: not known
    friend bool operator==(const Filter&, const Filter&) = default;
  };

  std::optional<Day> done;        // all snapshots use the windows of this day or a later one
  std::optional<Day> running;     // the run under way
  std::optional<UserRef> cursor;  // how far that run has come
  std::optional<Day> rendered;    // no snapshot was rendered for a later day; ahead: the clock was wrong
  uint32_t ended = 0;             // endings before this second are out of the store
  std::vector<Filter> filters;

  /// The later of `done` and `running`; kFirstOfDays: neither is known.
  Day Latest() const { return std::max(done.value_or(kFirstOfDays), running.value_or(kFirstOfDays)); }
  friend bool operator==(const SweepProgress&, const SweepProgress&) = default;
};

std::string EncodeSweepProgress(const SweepProgress& progress);
/// kCorrupt for what EncodeSweepProgress can't have written.
Result<SweepProgress> DecodeSweepProgress(std::string_view bytes);

}  // namespace seen
