#pragma once
// Decides what becomes of unseen candidates that are lists seen items, or lists each other.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/hashes.h"
#include "similar/port/item_groups.h"
#include "similar/port/options.h"
#include "similar/port/similar_seen.h"

namespace seen {

/// Leaves out candidates that are similar to another one in the same answer. Keep one a thread: it reuses its
/// memory.
class OnePerGroup {
 public:
  struct LeftOut {
    uint32_t place = 0;
    uint32_t stays = 0;  // the place of the candidate that it is lists
    friend bool operator==(const LeftOut&, const LeftOut&) = default;
  };

  /// `order`: places in `lists`, each once, the preferred first. The first of each group stays, and so does
  /// the first of candidates near one another. The others go to `left_out`, in order. Decides by
  /// fingerprints. O(n).
  void Keep(const SimilarLists& lists, std::vector<uint32_t>& order, std::vector<LeftOut>& left_out);

 private:
  FingerprintTable stay_, near_, groups_;  // the candidates that stay, what is near them, their groups
};

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
  /// What an unseen item is lists; nullopt: nothing that was seen.
  Result<std::optional<SimilarTo>> FindSeenOf(const ItemGroups& groups, const SeenSets& sets,
                                              std::string_view id);

 private:
  void LeaveOut(std::span<const std::string_view> ids, std::vector<SimilarCandidate>& similar) const;

  std::vector<uint32_t> asked_;
  std::vector<Fingerprint> fingerprints_;
  std::vector<uint8_t> found_;
  std::vector<uint32_t> order_;  // places in asked_
  std::vector<OnePerGroup::LeftOut> left_out_;
  SimilarLists lists_;
  SimilarSeen similar_seen_;
  OnePerGroup one_per_group_;
};

}  // namespace seen
