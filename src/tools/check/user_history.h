#pragma once
// Computes what a filter must say is seen, from everything that happened to one user. The code is exact, and
// written from docs/SEEN.md alone. The code shares nothing with the daemon's state.

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "model/day.h"
#include "model/hashes.h"
#include "tools/check/event_judge.h"

namespace seen {

/// One item of an event, or an erasure.
struct UserEntry {
  static constexpr uint32_t kNoItem = UINT32_MAX;  // for an erasure

  uint32_t item = kNoItem;  // the oracle's number
  uint32_t second = 0;
  uint16_t created = 0;  // day
  RuleBits filters = 0;
  int16_t source = 0;
  EventKind kind = EventKind::kExposed;
};

/// The daemon gave its answers between these times, on one UTC day.
struct Moment {
  TimeMs from, to;
  static Moment At(TimeMs now) { return {now, now}; }
};

/// For one user and filter. Lists are sorted and unique, except `served_ends`. Items: the oracle's numbers.
struct SeenItems {
  std::vector<uint32_t> must;      // the filter must say that they are seen
  std::vector<uint32_t> may;       // not in `must`; either answer is right
  std::vector<uint32_t> not_seen;  // the user's other items: must not be seen, except by a shared fingerprint
  // The fingerprints that the filter holds. Several items may share a fingerprint.
  std::vector<Fingerprint> fingerprints_must;
  std::vector<Fingerprint> fingerprints_may;
  std::vector<uint32_t> served_ends;  // seconds at which served items cease to count

  // Why items of `not_seen` aren't seen.
  uint64_t left_window = 0;        // windows, cool-down and times to live have ended
  uint64_t taken_back = 0;         // removed or erased
  uint64_t too_few_exposures = 0;  // fewer than exposures_min
};

/// `entries`: in the log's order. `fingerprints`: by item. `filter`: its number in the rules. Pure.
SeenItems WhatIsSeen(std::span<const UserEntry> entries, std::span<const Fingerprint> fingerprints,
                     const FilterRules& rules, size_t filter, const Moment& moment);

}  // namespace seen
