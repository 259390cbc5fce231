#pragma once
// What every user has really seen, kept exactly and as simply as possible: the daemon is checked against it.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "decode/event_decoder.h"
#include "model/day.h"
#include "model/event.h"

namespace seen {

/// The configuration that decides what counts; the names are the configuration's.
struct OracleRules {
  int32_t window_days = 30;
  uint32_t items_max = 10'000;
  uint32_t items_per_day_max = 50'000;
  int32_t future_skew_s_max = 300;
  uint64_t event_bytes_max = 1'048'576;
};

struct OracleCounts {
  uint64_t records = 0;
  uint64_t exposures = 0;  // (user, item) pairs that count, repeats included
  uint64_t too_old = 0;    // (user, item) pairs
  uint64_t malformed = 0;  // records the daemon dead-letters
  friend bool operator==(const OracleCounts&, const OracleCounts&) = default;
};

/// What a user must be said to have seen, and what may be said either way: beyond items_max or
/// items_per_day_max, or too old when it came. Everything else must be said to be unseen. Indices for Item().
struct SeenItems {
  std::vector<uint32_t> must;  // sorted, unique
  std::vector<uint32_t> may;   // sorted, unique, apart from `must`
};

/// Add: one thread. Const functions: any thread while nobody adds.
class Oracle {
 public:
  explicit Oracle(const OracleRules& rules);

  /// A record of the input topic as the daemon reads it: of the default format; removals and erasures are
  /// followed, what was served may or may not count.
  void AddRecord(TimeMs timestamp, std::string_view value, bool value_is_null = false);

  /// `horizon`: the first day that counts.
  SeenItems Seen(std::string_view user_id, Day horizon) const;
  /// First UTC day that has to count at `now`: the last window_days * 24 hours are always inside.
  Day Horizon(TimeMs now) const { return DayOf(now) - rules_.window_days; }

  const OracleCounts& counts() const { return counts_; }
  size_t item_count() const { return items_.size(); }
  std::string_view Item(uint32_t item) const { return *items_[item].id; }
  Fingerprint ItemFingerprint(uint32_t item) const { return items_[item].fingerprint; }
  /// All users, in byte order of their ids: the same topic gives the same sample.
  std::vector<std::string_view> Users() const;
  uint64_t ExposuresOf(std::string_view user_id) const;
  /// The user with most exposures; among equals the first in byte order. Empty: there is none.
  std::string_view BusiestUser() const;

 private:
  struct StringHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Known {
    const std::string* id = nullptr;  // the key in item_index_
    Fingerprint fingerprint;
  };
  struct Exposure {
    Day day;
    uint32_t item = 0;
    friend auto operator<=>(const Exposure&, const Exposure&) = default;
  };
  struct TakenBack {
    std::unordered_map<uint32_t, Day> items;  // until this day
    std::optional<Day> all;
  };
  struct User {
    User() = default;
    User(const User& other);
    User(User&&) = default;

    std::vector<Exposure> exposures;  // sorted and unique up to `compact`, as they came behind it
    size_t compact = 0;
    std::vector<Exposure> doubtful;         // too old when they came, or served
    std::unique_ptr<TakenBack> taken_back;  // of most users nothing
    uint64_t total = 0;
  };
  static void Compact(User& user);
  static void TakeBack(User& user, std::optional<uint32_t> item, Day day);
  static bool CameTooLate(const User& user, uint32_t item, Day day);

  OracleRules rules_;
  EventDecoder decoder_;
  OracleCounts counts_;
  std::unordered_map<std::string, uint32_t, StringHash, std::equal_to<>> item_index_;
  std::vector<Known> items_;
  std::unordered_map<std::string, User, StringHash, std::equal_to<>> users_;
};

}  // namespace seen
