#pragma once
// Estimates the size of a history's state. Encodes the state of some of its users as the store would.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "model/day.h"
#include "model/event.h"
#include "model/hashes.h"

namespace seen {

/// Keeps every user at first. Each time its memory is full, it drops every other user. One thread.
class StateSample {
 public:
  explicit StateSample(uint64_t fingerprints_max = 2'000'000) : fingerprints_max_(fingerprints_max) {}

  void Add(const UserKey& user, std::string_view user_id, Day day, std::span<const ExposedItem> items);

  uint64_t users() const { return users_.size(); }
  /// Estimated bytes of rows (schemas/store.md), uncompressed, for all users, and for filters with these
  /// windows on that day.
  uint64_t EstimatedBytes(std::span<const FilterConfig> filters, Day today) const;

 private:
  struct User {
    std::string id;
    std::map<int32_t, std::vector<Fingerprint>> days;
  };
  bool Keeps(const UserKey& user) const { return (user.low & ((uint64_t{1} << thinned_) - 1)) == 0; }
  void Thin();

  uint64_t fingerprints_max_;
  uint64_t fingerprints_ = 0;
  int thinned_ = 0;  // one user of 2^thinned_ is kept
  std::unordered_map<UserKey, User, UserKeyHash> users_;
};

}  // namespace seen
