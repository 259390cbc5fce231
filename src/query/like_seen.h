#pragma once
// Finds the candidates that are like something that was seen. What is known of groups comes from the daemon's
// copy of their topic. A candidate that isn't in the copy is never held up.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "flow/filter_policy.h"
#include "flow/item_groups_port.h"
#include "model/delta_seen.h"
#include "query/fingerprint_table.h"
#include "query/like_lists.h"
#include "serve/query_port.h"

namespace seen {

/// What counts as seen, in one question.
struct SeenSets {
  FingerprintSet& seen;
  FingerprintSet& similar;  // near and group fingerprints of what was shown
  std::span<const std::string_view> also_seen;
  bool asks_groups_shown = true;  // see AsksGroupsShown
};

/// Whether the group fingerprints of what was shown are asked. They aren't asked if an item may be shown
/// again while they count. That item's own first exposure left its group's fingerprint there, so the item
/// would be like itself.
bool AsksGroupsShown(const FilterPolicy& policy);

/// Keep one a thread: it reuses its memory.
class LikeSeen {
 public:
  static constexpr size_t kMembersMax = 256;  // so many members of a group are searched for a seen one

  /// `asked`: the candidates, as indices into `ids`; none of them is seen. `like`: what they are like, by
  /// their place in `asked`. Appends the candidates that are like something seen to `out`, in their order.
  /// Sets `found`, by place. Reads records only of candidates that are found, and of large groups. Errors:
  /// those of the groups' store.
  Status Find(const ItemGroups& groups, const SeenSets& sets, std::span<const std::string_view> ids,
              std::span<const uint32_t> asked, const LikeLists& like, std::vector<uint8_t>& found,
              std::vector<SimilarCandidate>& out);

 private:
  void ReadAlsoSeen(const ItemGroups& groups, std::span<const std::string_view> also_seen);
  bool IsSeen(const SeenSets& sets, Fingerprint item) const {
    return sets.seen.Contains(item) || also_seen_.Contains(item);
  }
  bool IsSeen(const SeenSets& sets, std::string_view item_id) const {
    return IsSeen(sets, FingerprintOf(item_id));
  }
  static void Ask(FingerprintSet& one, FingerprintSet& other, std::span<const Fingerprint> fingerprints,
                  std::vector<uint8_t>& of_one, std::vector<uint8_t>& of_other);
  void FindInSimilarSet(const SeenSets& sets, const LikeLists& like, std::vector<uint8_t>& found);
  void FindByNear(const SeenSets& sets, const LikeLists& like, std::vector<uint8_t>& found);
  Result<bool> HasSeenMember(const ItemGroups& groups, const SeenSets& sets, std::string_view id,
                             const LikeLists& like, size_t place);
  Result<std::optional<SimilarTo>> Explain(const ItemGroups& groups, const SeenSets& sets,
                                           std::string_view id);
  Result<std::string> SeenMember(const ItemGroups& groups, const SeenSets& sets, const std::string& group_id);

  std::vector<Fingerprint> probes_;
  std::vector<uint8_t> answers_, more_answers_;
  FingerprintSet also_seen_, also_similar_;  // what an exposure of also_seen would add
  std::vector<Fingerprint> scratch_;
  FingerprintTable groups_;                                    // whether the group has a seen member: 1 or 0
  std::unordered_map<std::string, std::string> seen_members_;  // a seen member of the group; empty: none
};

}  // namespace seen
