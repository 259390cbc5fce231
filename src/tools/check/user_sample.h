#pragma once
// A sample from an unknown number of users: those with the smallest hashes. Source: Beyer, Haas, Reinwald,
// Sismanis and Gemulla, "On Synopses for Distinct-Value Estimation", 2007 (KMV).

#include <cstdint>
#include <set>
#include <string_view>

#include "model/hashes.h"
#include "tools/load/random.h"

namespace seen {

/// One thread. Memory: some 40 bytes per user of the sample.
class UserSample {
 public:
  /// `count` 0: all users. For the same topic, the same seed chooses the same users.
  UserSample(uint64_t count, uint64_t seed) : count_(count), seed_(seed) {}

  /// Whether the user is in the sample so far. A user who isn't in it never comes in later.
  bool Offer(std::string_view user_id) {
    if (count_ == 0) return true;
    const uint64_t hash = HashOf(user_id);
    if (smallest_.size() == count_ && hash >= *smallest_.rbegin()) return hash == *smallest_.rbegin();
    if (smallest_.insert(hash).second && smallest_.size() > count_)
      smallest_.erase(std::prev(smallest_.end()));
    return true;
  }
  /// Whether the user is in the sample. Call it once all users were offered.
  bool Holds(std::string_view user_id) const {
    return count_ == 0 || (!smallest_.empty() && HashOf(user_id) <= *smallest_.rbegin());
  }

 private:
  // Uses other bits than the choice of the bucket.
  uint64_t HashOf(std::string_view user_id) const { return Random(UserKeyOf(user_id).low ^ seed_).Next(); }

  const uint64_t count_;
  const uint64_t seed_;
  std::set<uint64_t> smallest_;
};

}  // namespace seen
