#include "query/queries.h"

#include <fmt/format.h>

#include <algorithm>

#include "flow/heavy_turn.h"
#include "flow/partition_flow.h"
#include "query/queries_candidates.h"
#include "query/user_history.h"
#include "similar/port/similar_candidates.h"

namespace seen {
namespace {

// Drops what the user's last published snapshot holds, because the state may lack it.
void DropPublished(const std::string& published, const CandidateList& candidates,
                   std::vector<uint32_t>& unseen) {
  const auto view = SnapshotView::Parse(published);
  if (!view) return;
  std::erase_if(unseen, [&](uint32_t candidate) { return view->MightContain(candidates.ids[candidate]); });
}

/// What was read before the look-up had its turn may be that much older.
void AddWait(const HeavyTurn& turn, AsOf& as_of) {
  if (as_of.age) *as_of.age += turn.waited();
}

SimilarCandidates& OfThread() {
  thread_local SimilarCandidates similar;
  return similar;
}

}  // namespace

Queries::Queries(const Config& config, const Clock& clock, StatusSource status)
    : config_(config), clock_(clock), status_(std::move(status)) {}

void Queries::SetPartitions(OpenPartitions* partitions, int32_t partition_count) {
  partition_count_.store(partition_count, std::memory_order_release);
  partitions_.store(partitions, std::memory_order_release);
}

Result<Queries::Place> Queries::Find(std::string_view filter, std::string_view user_id) const {
  const auto named = std::find_if(config_.filters.begin(), config_.filters.end(),
                                  [&](const FilterConfig& candidate) { return candidate.name == filter; });
  if (named == config_.filters.end()) {
    return Fail(Code::kNotFound, "filter: no filter is named \"" + std::string(filter) + "\"");
  }
  auto open = FindPartition(user_id);
  if (!open) return Fail(open.error());
  return Place{std::move(*open), FilterIndex(static_cast<size_t>(named - config_.filters.begin())),
               UserKeyOf(user_id)};
}

Result<PartitionPointer> Queries::FindPartition(std::string_view user_id) const {
  OpenPartitions* partitions = partitions_.load(std::memory_order_acquire);
  const int32_t count = partition_count_.load(std::memory_order_acquire);
  if (!partitions || count == 0) return Fail(Code::kUnavailable, "starting: the input topic isn't known yet");
  const int32_t partition = PartitionOf(config_.input.partitioner, user_id, count);
  const std::string name = "partition " + std::to_string(partition);
  PartitionPointer open = partitions->Find(partition);
  if (!open) {
    if (const std::string refusal = partitions->RefusalOf(partition); !refusal.empty())
      return Fail(Code::kUnavailable, name + " is refused: " + refusal);
    if (const std::string reason = partitions->AwaitedFor(partition); !reason.empty())
      return Fail(Code::kUnavailable, name + " is being opened: " + reason);
    return Fail(Code::kUnavailable, name + " isn't open here: not assigned to this instance (yet)");
  }
  if (open->stopped.load(std::memory_order_acquire)) {
    return Fail(Code::kUnavailable, name + " is stopped: " + open->stop_reason());
  }
  if (open->flow->state.CaughtUp() && open->AwaitsRekeying()) {
    return Fail(Code::kUnavailable, name + " is catching up: some of its events aren't re-keyed yet");
  }
  if (!open->flow->state.CaughtUp()) {
    return Fail(Code::kUnavailable, name + " is catching up: " +
                                        std::to_string(open->flow->state.LagMessages()) + " messages behind");
  }
  return open;
}

AsOf Queries::AsOfFrom(const Place& place) const {
  return place.open->flow->state.GetAsOf(place.filter_index, clock_.Now(), clock_.WallNow());
}

Status Queries::CanAnswer(std::string_view filter, std::string_view user_id) const {
  const auto place = Find(filter, user_id);
  return place ? Status() : Fail(place.error());
}

Result<SnapshotAnswer> Queries::Snapshot(std::string_view filter, std::string_view user_id,
                                         const SnapshotQuestion& question) const {
  const auto place = Find(filter, user_id);
  if (!place) return Fail(place.error());
  const auto& snapshot = config_.filters[place->filter_index].snapshot;
  SnapshotShape shape =
      snapshot ? snapshot->policy.shape() : SnapshotShape();  // a filter that isn't published is still served
  if (question.format) shape.format = *question.format;
  if (question.false_positive_rate) shape.false_positive_rate = *question.false_positive_rate;
  if (Status possible = CheckShape(shape); !possible) {
    return Fail(possible.error().code, "fpr: " + possible.error().message);
  }
  const HeavyTurn turn(place->user);
  SnapshotAnswer answer;
  answer.as_of = AsOfFrom(*place);
  std::string known_id;
  const Status rendered =
      place->open->flow->reader.RenderUser(place->filter_index, place->user, shape, known_id, answer.bytes);
  if (!rendered) return Fail(rendered.error());
  AddWait(turn, answer.as_of);
  return answer;
}

Result<UnseenAnswer> Queries::Unseen(std::string_view filter, std::string_view user_id,
                                     const CandidateList& candidates,
                                     std::span<const std::string_view> also_seen) const {
  const auto place = Find(filter, user_id);
  if (!place) return Fail(place.error());
  const HeavyTurn turn(place->user);
  UnseenAnswer answer;
  answer.as_of = AsOfFrom(*place);
  SeenReader& reader = HeavyTurn::OfThread().reader;
  thread_local Candidates asked;
  const FilterPolicy& policy = place->open->flow->state.options().filters[place->filter_index];
  const Status read = place->open->flow->reader.ReadSeen(place->filter_index, place->user,
                                                         policy.AnswerAt(clock_.WallNow()), reader);
  if (!read) return Fail(read.error());
  AddWait(turn, answer.as_of);
  asked.Unseen(candidates, also_seen, reader, answer.unseen);
  const auto published = place->open->flow->reader.ReadPublished(place->filter_index, place->user);
  if (!published) return Fail(published.error());
  if (!published->empty()) DropPublished(*published, candidates, answer.unseen);
  if (policy.similar != Similar::kOff || candidates.one_per_group) {
    Status added = AnswerSimilar(policy, candidates, asked.fingerprints(), also_seen, reader, answer);
    if (!added) return Fail(added.error());
  }
  return answer;
}

Result<NewestAnswer> Queries::Newest(std::string_view user_id, TimeMs until) const {
  const auto open = FindPartition(user_id);
  if (!open) return Fail(open.error());
  const PartitionFlow& flow = *(*open)->flow;
  const UserKey user = UserKeyOf(user_id);
  const HeavyTurn turn(user);
  NewestAnswer answer;
  answer.as_of = flow.state.GetAsOf(clock_.Now());
  const auto newest = flow.reader.Newest(user, until);
  if (!newest) return Fail(newest.error());
  AddWait(turn, answer.as_of);
  answer.newest = *newest;
  return answer;
}

Result<UserAnswer> Queries::User(std::string_view filter, std::string_view user_id,
                                 const SegmentsQuestion& question) const {
  const auto place = Find(filter, user_id);
  if (!place) return Fail(place.error());
  const HeavyTurn turn(place->user);
  AsOf as_of = AsOfFrom(*place);
  const auto encoded = place->open->flow->reader.ReadUser(place->filter_index, place->user);
  if (!encoded) return Fail(encoded.error());
  const FilterPolicy& policy = place->open->flow->state.options().filters[place->filter_index];
  auto answer =
      DescribeUser(*encoded, policy, clock_.WallNow(), fmt::format("{}/{}", filter, user_id), question);
  if (!answer) return answer;
  AddWait(turn, as_of);
  answer->as_of = as_of;
  answer->partition = place->open->partition;
  return answer;
}

Result<ExposuresAnswer> Queries::Exposures(std::string_view filter, std::string_view user_id,
                                           const ExposuresQuestion& question) const {
  const auto place = Find(filter, user_id);
  if (!place) return Fail(place.error());
  const HeavyTurn turn(place->user);
  AsOf as_of = AsOfFrom(*place);
  auto answer = ListExposures({*place->open->flow, place->filter_index, place->user},
                              fmt::format("{}/{}", filter, user_id), question);
  AddWait(turn, as_of);
  if (answer) answer->as_of = as_of;
  return answer;
}

Result<WhyAnswer> Queries::Why(std::string_view filter, std::string_view user_id,
                               std::string_view item) const {
  const auto place = Find(filter, user_id);
  if (!place) return Fail(place.error());
  const PartitionFlow& flow = *place->open->flow;
  const FilterPolicy& policy = flow.state.options().filters[place->filter_index];
  const AnswerLimits limits = policy.AnswerAt(clock_.WallNow());
  const HeavyTurn turn(place->user);
  WhyAnswer answer;
  answer.as_of = AsOfFrom(*place);
  SeenReader& reader = HeavyTurn::OfThread().reader;
  if (Status read = flow.reader.ReadSeen(place->filter_index, place->user, limits, reader); !read)
    return Fail(read.error());
  answer.seen = reader.seen().Contains(FingerprintOf(item));
  if (!answer.seen) {
    auto similar = WhySimilar(policy, reader, item);
    if (!similar) return Fail(similar.error());
    answer.similar = std::move(*similar);
  }
  const Status explained = ExplainItem({flow, place->filter_index, place->user}, limits, item, answer);
  if (!explained) return Fail(explained.error());
  AddWait(turn, answer.as_of);
  return answer;
}

Result<size_t> Queries::PublishAll() {
  const bool publishes = std::any_of(config_.filters.begin(), config_.filters.end(),
                                     [](const FilterConfig& filter) { return filter.snapshot.has_value(); });
  if (!publishes) {
    return Fail(Code::kNotFound, "no filter publishes: filters[].snapshot is null in all of them");
  }
  OpenPartitions* partitions = partitions_.load(std::memory_order_acquire);
  if (!partitions) return Fail(Code::kUnavailable, "starting: no partition is open yet");
  const auto open = partitions->All();
  for (const PartitionPointer& partition : open) partition->flow->sweep.RequestAll();
  return open.size();
}

void Queries::AcknowledgeLostRanges() {
  if (OpenPartitions* partitions = partitions_.load(std::memory_order_acquire)) {
    for (const PartitionPointer& open : partitions->All()) open->flow->state.AcknowledgeLostRanges();
  }
}

Status Queries::CanFindSimilar() const {
  if (!config_.items) return QueryPort::CanFindSimilar();
  if (similar_.load() == nullptr)
    return Fail(Code::kUnavailable, "the stream of items isn't read yet; try again");
  return {};
}

Result<SimilarAnswer> Queries::Similar(const SimilarQuestion& question) const {
  SimilarPort* const similar = similar_.load();
  if (!config_.items || similar == nullptr) return Fail(CanFindSimilar().error());
  return similar->Similar(question);
}

// Which items are alike: for candidates, for one item, and for an item's group.

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
