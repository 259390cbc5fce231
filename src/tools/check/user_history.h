#pragma once
// From all that happened to one user to what a filter must say is seen: exact, and written from docs/SEEN.md
// alone. It shares no code with the daemon's state.

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "model/day.h"
#include "model/fingerprint.h"
#include "tools/check/event_judge.h"
#include "tools/check/oracle_rules.h"

namespace seen {

/// One item of an event, or an erasure.
struct ToldEntry {
  static constexpr uint32_t kNoItem = UINT32_MAX;  // of an erasure

  uint32_t item = kNoItem;  // the oracle's number
  uint32_t second = 0;
  uint16_t created = 0;  // day
  RuleBits filters = 0;
  int16_t source = 0;
  EventKind kind = EventKind::kExposed;
};

/// Answers were given between these, on one UTC day.
struct Moment {
  TimeMs from, to;
  static Moment At(TimeMs now) { return {now, now}; }
};

/// Of one user and filter. All sorted and unique, but for `served_ends`. Items by the oracle's numbers.
struct SeenItems {
  std::vector<uint32_t> must;      // the filter must say that they are seen
  std::vector<uint32_t> may;       // apart from `must`: either answer is right
  std::vector<uint32_t> not_seen;  // the user's others: it must not, but where a fingerprint is shared
  // What the filter holds: the same by fingerprint, which several items may share.
  std::vector<Fingerprint> fingerprints_must;
  std::vector<Fingerprint> fingerprints_may;
  std::vector<uint32_t> served_ends;  // seconds at which something that was served ceases to count

  // Why items of `not_seen` aren't seen.
  uint64_t left_window = 0;        // windows, cool-down and times to live let them go
  uint64_t taken_back = 0;         // removed or erased
  uint64_t too_few_exposures = 0;  // less than exposures_min
};

/// `entries`: in the log's order. `fingerprints`: by item. `filter`: its number in the rules. Pure.
SeenItems WhatIsSeen(std::span<const ToldEntry> entries, std::span<const Fingerprint> fingerprints,
                     const FilterRules& rules, size_t filter, const Moment& moment);

}  // namespace seen
