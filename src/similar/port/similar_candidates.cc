#include "similar/port/similar_candidates.h"

#include <algorithm>

namespace seen {

Status SimilarCandidates::Decide(const Rules& rules, const ItemGroups& groups, const SeenSets& sets,
                                 std::span<const std::string_view> ids,
                                 std::span<const Fingerprint> fingerprints, std::vector<uint32_t>& unseen,
                                 std::vector<SimilarCandidate>& similar) {
  asked_ = unseen;
  fingerprints_.resize(asked_.size());
  for (size_t place = 0; place < asked_.size(); ++place) fingerprints_[place] = fingerprints[asked_[place]];
  lists_.Read(fingerprints_, groups);
  similar.clear();
  found_.assign(asked_.size(), 0);
  if (rules.similar != Similar::kOff) {
    if (Status read = similar_seen_.Find(groups, sets, ids, asked_, lists_, found_, similar); !read)
      return read;
  }
  order_.clear();
  const auto take = [&](uint8_t found) {
    for (uint32_t place = 0; place < asked_.size(); ++place) {
      if (found_[place] == found) order_.push_back(place);
    }
  };
  take(0);
  if (rules.similar == Similar::kDemote) take(1);
  if (rules.one_per_group) {
    one_per_group_.Keep(lists_, order_, left_out_);
    LeaveOut(ids, similar);
  }
  unseen.resize(order_.size());
  std::transform(order_.begin(), order_.end(), unseen.begin(), [&](uint32_t place) { return asked_[place]; });
  return {};
}

// A candidate that is demoted and then left out is reported as left out.
void SimilarCandidates::LeaveOut(std::span<const std::string_view> ids,
                                 std::vector<SimilarCandidate>& similar) const {
  const auto before = [](const SimilarCandidate& a, const SimilarCandidate& b) {
    return a.candidate < b.candidate;
  };
  const auto of_seen = static_cast<std::ptrdiff_t>(similar.size());
  for (const OnePerGroup::LeftOut& out : left_out_) {
    SimilarCandidate left{asked_[out.place], {std::string(ids[asked_[out.stays]]), SimilarReason::kPage}};
    const auto known = std::lower_bound(similar.begin(), similar.begin() + of_seen, left, before);
    if (found_[out.place] != 0) {
      *known = std::move(left);
    } else {
      similar.push_back(std::move(left));
    }
  }
  std::sort(similar.begin(), similar.end(), before);
}

Result<std::optional<SimilarTo>> SimilarCandidates::FindSeenOf(const ItemGroups& groups, const SeenSets& sets,
                                                               std::string_view id) {
  const Fingerprint fingerprint = FingerprintOf(id);
  const uint32_t first = 0;
  lists_.Read({&fingerprint, 1}, groups);
  std::vector<SimilarCandidate> similar;
  if (Status read = similar_seen_.Find(groups, sets, {&id, 1}, {&first, 1}, lists_, found_, similar); !read) {
    return Fail(read.error());
  }
  if (similar.empty()) return std::optional<SimilarTo>();
  return std::optional<SimilarTo>(std::move(similar.front().to));
}

void OnePerGroup::Keep(const SimilarLists& lists, std::vector<uint32_t>& order,
                       std::vector<LeftOut>& left_out) {
  left_out.clear();
  stay_.Reset(lists.size());
  groups_.Reset(lists.size());
  near_.Reset(lists.all().size());
  const auto similar_one_that_stays = [&](uint32_t place) -> std::optional<uint32_t> {
    if (const auto stays = groups_.Find(lists.group(place))) return stays;
    if (const auto stays = near_.Find(lists.item(place))) return stays;
    for (size_t i = lists.start(place); i < lists.end(place); ++i) {
      if (const auto stays = stay_.Find(lists.all()[i])) return stays;
    }
    return std::nullopt;
  };
  size_t kept = 0;
  for (const uint32_t place : order) {
    if (const auto stays = similar_one_that_stays(place)) {
      left_out.push_back({place, *stays});
      continue;
    }
    order[kept++] = place;
    stay_.Insert(lists.item(place), place);
    if (!lists.HasSimilar(place)) continue;
    groups_.Insert(lists.group(place), place);
    for (const Fingerprint near : lists.near(place)) near_.Insert(near, place);
  }
  order.resize(kept);
}

}  // namespace seen
