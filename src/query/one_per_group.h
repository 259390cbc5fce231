#pragma once
// Leaves out candidates that are like another one in the same answer.

#include <cstdint>
#include <span>
#include <vector>

#include "query/fingerprint_table.h"
#include "query/like_lists.h"

namespace seen {

/// Keep one a thread: it reuses its memory.
class OnePerGroup {
 public:
  struct LeftOut {
    uint32_t place = 0;
    uint32_t stays = 0;  // the place of the candidate that it is like
    friend bool operator==(const LeftOut&, const LeftOut&) = default;
  };

  /// `order`: places in `like`, each once, the preferred first. The first of each group stays, and so does
  /// the first of candidates near one another. The others go to `left_out`, in order. Decides by
  /// fingerprints. O(n).
  void Keep(const LikeLists& like, std::vector<uint32_t>& order, std::vector<LeftOut>& left_out);

 private:
  FingerprintTable stay_, near_, groups_;  // the candidates that stay, what is near them, their groups
};

}  // namespace seen
