#pragma once
// What users have really seen, kept exactly and as simply as possible: the daemon is checked against it.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "model/day.h"
#include "model/fingerprint.h"
#include "tools/check/event_judge.h"
#include "tools/check/oracle_rules.h"
#include "tools/check/user_history.h"

namespace seen {

/// Add: one thread. Const functions: any thread while nobody adds. Memory: 16 bytes an item of an event, and
/// the ids.
class Oracle {
 public:
  /// `rules` outlives this.
  explicit Oracle(const OracleRules& rules) : rules_(rules) {}

  /// In the log's order, as far as one user is concerned.
  void Add(const ToldEvent& event);

  /// By one filter of the rules.
  SeenItems Seen(std::string_view user_id, const Moment& moment, size_t filter = 0) const;
  /// First UTC day that has to count at `now`: the last window_days * 24 hours are always inside.
  Day Horizon(TimeMs now, size_t filter = 0) const { return DayOf(now) - rules_.filters[filter].window_days; }

  const OracleRules& rules() const { return rules_; }
  /// Of all events, those that concern no filter too.
  size_t item_count() const { return ids_.size(); }
  std::string_view Item(uint32_t item) const { return *ids_[item]; }
  Fingerprint ItemFingerprint(uint32_t item) const { return fingerprints_[item]; }
  /// All items that were told of the user, whatever happened to them; sorted, unique.
  std::vector<uint32_t> ItemsOf(std::string_view user_id) const;
  /// All users, in byte order of their ids.
  std::vector<std::string_view> Users() const;
  uint64_t ExposuresOf(std::string_view user_id) const;
  /// The user with most exposures; among equals the first in byte order. Empty: there is none.
  std::string_view BusiestUser() const;

 private:
  struct StringHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  uint32_t NumberOf(std::string_view item);
  std::span<const ToldEntry> EntriesOf(std::string_view user_id) const;

  const OracleRules& rules_;
  std::unordered_map<std::string, uint32_t, StringHash, std::equal_to<>> items_;
  std::vector<const std::string*> ids_;  // keys of items_, by number
  std::vector<Fingerprint> fingerprints_;
  std::unordered_map<std::string, std::vector<ToldEntry>, StringHash, std::equal_to<>> users_;
};

}  // namespace seen
