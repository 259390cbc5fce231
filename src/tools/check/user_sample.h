#pragma once
// A sample of users whose number nobody knows before: those with the smallest hashes.
// Source: Beyer, Haas, Reinwald, Sismanis and Gemulla, "On Synopses for Distinct-Value Estimation", 2007
// (KMV).

#include <cstdint>
#include <set>
#include <string_view>

#include "model/user_key.h"
#include "tools/load/random.h"

namespace seen {

/// One thread. Memory: some 40 bytes a user of the sample.
class UserSample {
 public:
  /// `count` 0: all users. The same seed chooses the same users of the same topic.
  UserSample(uint64_t count, uint64_t seed) : count_(count), seed_(seed) {}

  /// Whether the user is in, as far as is known. One who isn't never will be, whoever comes.
  bool Offer(std::string_view user_id) {
    if (count_ == 0) return true;
    const uint64_t hash = HashOf(user_id);
    if (smallest_.size() == count_ && hash >= *smallest_.rbegin()) return hash == *smallest_.rbegin();
    if (smallest_.insert(hash).second && smallest_.size() > count_)
      smallest_.erase(std::prev(smallest_.end()));
    return true;
  }
  /// Once all were offered.
  bool Holds(std::string_view user_id) const {
    return count_ == 0 || (!smallest_.empty() && HashOf(user_id) <= *smallest_.rbegin());
  }

 private:
  // Other bits than those that choose the bucket.
  uint64_t HashOf(std::string_view user_id) const { return Random(UserKeyOf(user_id).low ^ seed_).Next(); }

  const uint64_t count_;
  const uint64_t seed_;
  std::set<uint64_t> smallest_;
};

}  // namespace seen
