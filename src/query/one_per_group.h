#pragma once
// No two that are alike in one answer.

#include <cstdint>
#include <span>
#include <vector>

#include "query/fingerprint_table.h"
#include "query/like_lists.h"

namespace seen {

/// One a thread: it keeps its memory.
class OnePerGroup {
 public:
  struct LeftOut {
    uint32_t place = 0;
    uint32_t stays = 0;  // the place of the one that it is like
    friend bool operator==(const LeftOut&, const LeftOut&) = default;
  };

  /// `order`: places in `like`, each once, the preferred first. The first of each group, and of those near
  /// one another, stays there; the others go to `left_out`, in order. Told by fingerprints. O(n).
  void Keep(const LikeLists& like, std::vector<uint32_t>& order, std::vector<LeftOut>& left_out);

 private:
  FingerprintTable stay_, near_, groups_;  // those that stay, what is near them, and their groups
};

}  // namespace seen
