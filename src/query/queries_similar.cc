// Answers which items are alike: for candidates, for one item, and for an item's group.
#include "query/queries.h"
#include "similar/port/similar_candidates.h"

namespace seen {
namespace {

SimilarCandidates& OfThread() {
  thread_local SimilarCandidates similar;
  return similar;
}

}  // namespace

Result<const ItemGroups*> Queries::FindGroups() const {
  const ItemGroups* groups = groups_.load(std::memory_order_acquire);
  if (groups == nullptr) return Fail(Code::kUnavailable, "starting: the groups of items aren't open yet");
  return groups;
}

Status Queries::AnswerSimilar(const FilterPolicy& policy, const CandidateList& candidates,
                              std::span<const Fingerprint> fingerprints,
                              std::span<const std::string_view> also_seen, SeenReader& reader,
                              UnseenAnswer& answer) const {
  if (!config_.items) {
    return Fail(Code::kInvalidArgument,
                "$.one_per_group: this daemon reads no items. Remedy: leave one_per_group out, or give the "
                "daemon the section \"items\"");
  }
  const auto groups = FindGroups();
  if (!groups) return Fail(groups.error());
  const SeenSets sets{reader.seen(), reader.similar(), also_seen, AsksGroupsShown(policy)};
  return OfThread().Decide({policy.similar, candidates.one_per_group}, **groups, sets, candidates.ids,
                           fingerprints, answer.unseen, answer.similar.emplace());
}

Result<std::optional<SimilarTo>> Queries::WhySimilar(const FilterPolicy& policy, SeenReader& reader,
                                                     std::string_view item) const {
  if (policy.similar == Similar::kOff) return std::optional<SimilarTo>();
  const auto groups = FindGroups();
  if (!groups) return Fail(groups.error());
  return OfThread().FindSeenOf(**groups, {reader.seen(), reader.similar(), {}, AsksGroupsShown(policy)},
                               item);
}

Result<GroupAnswer> Queries::Group(std::string_view item_id, std::string_view after) const {
  if (!config_.items) {
    return Fail(Code::kNotFound,
                "groups: this daemon reads no items. Remedy: give the daemon the section \"items\"");
  }
  const auto groups = FindGroups();
  if (!groups) return Fail(groups.error());
  auto item = (*groups)->Find(item_id);
  if (!item) return Fail(item.error());
  if (!*item) {
    return Fail(
        Code::kNotFound,
        "item: \"" + std::string(item_id) +
            "\" isn't known: it isn't in the topic of items, was deleted, or has left items.window_days");
  }
  GroupAnswer answer{std::move(**item), {}, {}};
  auto ids = (*groups)->Members(answer.item.group_id, after, kGroupMembersMax + 1);
  if (!ids) return Fail(ids.error());
  if (ids->size() > kGroupMembersMax) {
    ids->resize(kGroupMembersMax);
    answer.next = ids->back();
  }
  answer.members.reserve(ids->size());
  for (std::string& id : *ids) {
    const auto member = (*groups)->Find(id);
    if (!member) return Fail(member.error());
    answer.members.push_back({std::move(id), *member ? (*member)->similarity : std::nullopt});
  }
  return answer;
}

}  // namespace seen
