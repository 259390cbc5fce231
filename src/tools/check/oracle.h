#pragma once
// What users have really seen, kept exactly and as simply as possible. The daemon is checked against it. The
// code is written from docs/SEEN.md alone, and shares nothing with the daemon's state.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// Add: one thread. Const functions: any thread, while no thread adds. Memory: 16 bytes for each item of an
/// event, and the ids.
class Oracle {
 public:
  /// `rules` must outlive this object.
  explicit Oracle(const OracleRules& rules) : rules_(rules) {}

  /// The events of each user must come in the log's order.
  void Add(const JudgedEvent& event);

  /// What the user has seen by one filter of the rules.
  SeenItems Seen(std::string_view user_id, const Moment& moment, size_t filter = 0) const;
  /// The first UTC day that must count at `now`: the last window_days * 24 hours are always inside.
  Day Horizon(TimeMs now, size_t filter = 0) const { return DayOf(now) - rules_.filters[filter].window_days; }

  const OracleRules& rules() const { return rules_; }
  /// Counts the items of all events, also of events that concern no filter.
  size_t item_count() const { return ids_.size(); }
  std::string_view Item(uint32_t item) const { return *ids_[item]; }
  Fingerprint ItemFingerprint(uint32_t item) const { return fingerprints_[item]; }
  /// All items in events of the user, whatever happened to them; sorted, unique.
  std::vector<uint32_t> ItemsOf(std::string_view user_id) const;
  /// All users, in byte order of their ids.
  std::vector<std::string_view> Users() const;

 private:
  struct StringHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  uint32_t NumberOf(std::string_view item);
  std::span<const UserEntry> EntriesOf(std::string_view user_id) const;

  const OracleRules& rules_;
  std::unordered_map<std::string, uint32_t, StringHash, std::equal_to<>> items_;
  std::vector<const std::string*> ids_;  // keys of items_, by number
  std::vector<Fingerprint> fingerprints_;
  std::unordered_map<std::string, std::vector<UserEntry>, StringHash, std::equal_to<>> users_;
};

}  // namespace seen
