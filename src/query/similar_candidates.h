#pragma once
// Decides what becomes of unseen candidates that are like seen items, or like each other.

#include <span>
#include <string_view>
#include <vector>

#include "query/like_lists.h"
#include "query/like_seen.h"
#include "query/one_per_group.h"

namespace seen {

/// Keep one a thread: it reuses its memory.
class SimilarCandidates {
 public:
  struct Rules {
    Similar similar = Similar::kOff;
    bool one_per_group = false;
  };

  /// `unseen`: indices into `ids`, ascending. `fingerprints`: of all of `ids`. Takes out of `unseen` what
  /// `rules` don't let through, and puts what they demote behind the others. Reports both in `similar`, in
  /// the candidates' order. Errors: those of the groups' store.
  Status Decide(const Rules& rules, const ItemGroups& groups, const SeenSets& sets,
                std::span<const std::string_view> ids, std::span<const Fingerprint> fingerprints,
                std::vector<uint32_t>& unseen, std::vector<SimilarCandidate>& similar);
  /// What an unseen item is like; nullopt: nothing that was seen.
  Result<std::optional<SimilarTo>> LikeOf(const ItemGroups& groups, const SeenSets& sets,
                                          std::string_view id);

 private:
  void LeaveOut(std::span<const std::string_view> ids, std::vector<SimilarCandidate>& similar) const;

  std::vector<uint32_t> asked_;
  std::vector<Fingerprint> fingerprints_;
  std::vector<uint8_t> found_;
  std::vector<uint32_t> order_;  // places in asked_
  std::vector<OnePerGroup::LeftOut> left_out_;
  LikeLists like_;
  LikeSeen like_seen_;
  OnePerGroup one_per_group_;
};

}  // namespace seen
