#include "tools/state/resharded.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_codec.h"
#include "model/delta_fold.h"
#include "model/delta_view.h"
#include "rows/descriptor.h"
#include "rows/keys.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

// Numbers in keys and sets must mean the same in all partitions.
Status CheckAlike(const StoreDescriptor& first, const StoreDescriptor& other) {
  const auto& a = first.identity;
  const auto& b = other.identity;
  if (a.topic != b.topic || a.partition_count != b.partition_count || a.partitioner != b.partitioner) {
    return Fail(Code::kRefused, fmt::format("partition {} is of topic {} with {} partitions ({}), partition "
                                            "{} of {} with {} ({}). Remedy: name the state of one topic",
                                            b.partition, b.topic, b.partition_count, b.partitioner,
                                            a.partition, a.topic, a.partition_count, a.partitioner));
  }
  if (std::ranges::equal(first.filters, other.filters, {}, &StoredFilter::name, &StoredFilter::name) &&
      first.kinds == other.kinds)
    return {};
  return Fail(Code::kRefused,
              fmt::format("partitions {} and {} number their filters or kinds differently. Remedy: start the "
                          "daemons with one configuration, let each daemon open its partitions, and then "
                          "take the state. If that doesn't help, --rebuild numbers them again",
                          a.partition, b.partition));
}

// Keeps for each filter what holds for all old partitions: a new partition may get users of any of them.
void JoinWholeness(const std::vector<FilterWholeness>& filters, std::vector<FilterWholeness>& joined) {
  for (const FilterWholeness& filter : filters) {
    const auto at = std::lower_bound(joined.begin(), joined.end(), filter.filter,
                                     [](const FilterWholeness& one, FilterId id) { return one.filter < id; });
    if (at == joined.end() || at->filter != filter.filter) {
      joined.insert(at, filter);
      continue;
    }
    at->complete_since = std::max(at->complete_since, filter.complete_since);
    at->awaits_record |= filter.awaits_record;
    at->window_days = std::min(at->window_days, filter.window_days);
    at->last_published = std::max(at->last_published, filter.last_published);
  }
}

// Older versions stored only lost ranges.
std::vector<FilterWholeness> WholenessOf(const Position& position, const StoreDescriptor& descriptor) {
  if (!position.filters.empty()) return position.filters;
  std::vector<FilterWholeness> filters;
  for (size_t i = 0; i < descriptor.filters.size(); ++i) {
    FilterWholeness& filter = filters.emplace_back();
    filter.filter = FilterId(i);
    filter.window_days = descriptor.filters[i].window_days;
    for (const LostRange& range : position.lost_ranges)
      filter.complete_since = std::max(filter.complete_since, range.noticed_at);
  }
  return filters;
}

struct At {
  RestingRows* source;
  std::unique_ptr<RestingRows::Cursor> cursor;
  std::string_view key = {};
  std::string_view value = {};
};

// The heap functions put the greatest element first, so this order is the reverse.
bool StandsBehind(const At& a, const At& b) { return a.key > b.key; }

Status ComposeRows(std::string_view key, const std::vector<At>& same, const StoredLimits& limits,
                   std::string& out) {
  const auto user = UserOf(Table::kDeltas, key);
  if (!user) return Fail(user.error());
  const DeltaLimits* const of_filter = limits.Of(user->filter);
  std::vector<std::string_view> parts;
  for (const bool with_id : {false, true}) {
    for (const At& at : same) {
      if (UserIdOfDelta(at.value).empty() != with_id) parts.push_back(at.value);
    }
  }
  if (of_filter == nullptr || !FoldEncoded(parts, *of_filter, Horizon(), out))
    return Fail(Code::kCorrupt, "a row isn't a user's set");
  return {};
}

using VisitMerged = std::function<Status(std::string_view key, std::string_view value, RestingRows& source)>;

/// Calls `visit` with each user's rows of all `sources`, and with the source of the row. Composes sets under
/// the same key, sets without an id first. After an earlier reshard, each partition has such sets. Of other
/// rows under the same key, only one counts. Stops at an error of a source or of `visit`.
Status ForEachMerged(const std::vector<std::unique_ptr<RestingRows>>& sources, const StoredLimits& limits,
                     const VisitMerged& visit) {
  std::vector<At> heap;
  for (const auto& source : sources) {
    At at{source.get(), source->ReadFrom(Table::kDeltas)};
    const auto any = at.cursor->Next(at.key, at.value);
    if (!any) return Fail(any.error());
    if (*any) heap.push_back(std::move(at));
  }
  std::make_heap(heap.begin(), heap.end(), StandsBehind);
  std::vector<At> taken;
  std::string composed;
  while (!heap.empty()) {
    taken.clear();
    do {
      std::pop_heap(heap.begin(), heap.end(), StandsBehind);
      taken.push_back(std::move(heap.back()));
      heap.pop_back();
    } while (!heap.empty() && heap.front().key == taken.front().key);
    const std::string_view key = taken.front().key;
    std::string_view value = taken.back().value;
    if (taken.size() > 1 && static_cast<Table>(key[0]) == Table::kDeltas) {
      if (Status status = ComposeRows(key, taken, limits, composed); !status) return status;
      value = composed;
    }
    if (Status visited = visit(key, value, *taken.back().source); !visited) return visited;
    for (At& at : taken) {
      const auto more = at.cursor->Next(at.key, at.value);
      if (!more) return Fail(more.error());
      if (!*more) continue;
      heap.push_back(std::move(at));
      std::push_heap(heap.begin(), heap.end(), StandsBehind);
    }
  }
  return {};
}

/// The id of the row's user, a view into the row or into `found`; empty: nobody knows it. nullopt: the row
/// stays behind.
using RoutedId = Result<std::optional<std::string_view>>;

RoutedId IdInDeltaOf(const UserRef& user, const RowLookup& lookup, std::string& found) {
  auto delta = lookup.delta(user);
  if (!delta) return Fail(delta.error());
  found = std::move(*delta);
  const std::string_view id = UserIdOfDelta(found);
  return id.empty() ? std::nullopt : std::optional(id);
}

RoutedId IdOfDeltaRow(std::string_view key, std::string_view value, const RowLookup& lookup,
                      std::string& found) {
  if (const auto id = UserIdOfDelta(value); !id.empty()) return std::optional(id);
  const auto user = UserOf(Table::kDeltas, key);
  if (!user) return Fail(user.error());
  auto marked = lookup.marked_id(*user);
  if (!marked) return Fail(marked.error());
  found = std::move(*marked);
  return std::optional<std::string_view>(found);
}

RoutedId IdOfMark(std::string_view key, std::string_view value, const RowLookup& lookup, std::string& found) {
  const auto user = UserOf(Table::kMarks, key);
  if (!user) return Fail(user.error());
  // Such a mark is for a tombstone of a topic that no filter has any more.
  if (user->filter.number() > kRetiredTopicLast.number() - kSnapshotTopicsMax) return std::nullopt;
  if (!value.empty()) return std::optional(value);
  return IdInDeltaOf(*user, lookup, found);  // a mark of an older version names no user
}

// The ending must go to the partition of its user. In another one the user would seem to have nothing left.
RoutedId IdOfEnding(std::string_view key, const RowLookup& lookup, std::string& found) {
  const auto ending = EndingOf(key);
  if (!ending) return Fail(ending.error());
  return IdInDeltaOf(ending->user, lookup, found);
}

RoutedId IdOfServed(std::string_view value) {
  FieldReader reader(value);
  (void)reader.Get<int64_t>();
  const std::string_view user_id = reader.GetTextView();
  if (!reader.ok() || user_id.empty()) return Fail(Code::kCorrupt, "a served item names no user");
  return std::optional(user_id);
}

RoutedId IdOfRow(std::string_view key, std::string_view value, const RowLookup& lookup, std::string& found) {
  switch (key.empty() ? Table::kPosition : static_cast<Table>(key[0])) {
    case Table::kDeltas:
      return IdOfDeltaRow(key, value, lookup, found);
    case Table::kMarks:
      return IdOfMark(key, value, lookup, found);
    case Table::kEndings:
      return IdOfEnding(key, lookup, found);
    case Table::kServed:
      return IdOfServed(value);
    case Table::kPosition:
    case Table::kDescriptor:
    case Table::kJournal:
    case Table::kSweep:
    case Table::kPublished:
      break;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<int32_t>> RouteRow(std::string_view key, std::string_view value, Partitioner partitioner,
                                        int32_t partitions, const RowLookup& lookup) {
  std::string found;
  const auto id = IdOfRow(key, value, lookup, found);
  if (!id) return Fail(id.error());
  if (!*id) return std::optional<int32_t>();
  return std::optional((*id)->empty() ? kAllPartitions : PartitionOf(partitioner, **id, partitions));
}

Status ReshardedState::Join(std::unique_ptr<StoredState> stored) {
  auto open = stored->Open();
  if (!open) return Fail(open.error());
  for (std::unique_ptr<RestingRows>& rows : *open) {
    const StoreDescriptor& descriptor = rows->descriptor();
    const int32_t number = descriptor.identity.partition;
    if (const auto [at, is_new] = known_.emplace(number, stored->name()); !is_new) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("partition {} is in {} and in {}. Remedy: leave out its older state", number,
                              at->second, stored->name()));
    }
    if (old_.empty()) descriptor_ = descriptor;
    if (Status alike = CheckAlike(descriptor_, descriptor); !alike) return alike;
    if (const auto& position = rows->position()) {
      position_.partition_time = std::max(position_.partition_time, position->partition_time);
      JoinWholeness(WholenessOf(*position, descriptor), position_.filters);
    }
    old_.push_back(std::move(rows));
  }
  stored_.push_back(std::move(stored));
  return {};
}

Status ReshardedState::CheckWhole(const std::string& topic) const {
  const StoreIdentity& identity = descriptor_.identity;
  for (int32_t number = 0; number < identity.partition_count; ++number) {
    if (known_.contains(number)) continue;
    return Fail(Code::kRefused,
                fmt::format("partition {} of {} is missing: its users would lose what they saw. Remedy: name "
                            "the state of all daemons, each with --dir or --from",
                            number, identity.partition_count));
  }
  if (identity.topic != topic) return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format(
          "--topic: {} is the topic of the old state. Remedy: name the new topic, which has {} partitions",
          topic, partitions_));
}

Result<std::unique_ptr<ReshardedState>> ReshardedState::Make(std::vector<std::unique_ptr<StoredState>> stored,
                                                             const std::string& topic, int32_t partitions,
                                                             bool quiet) {
  std::unique_ptr<ReshardedState> state(new ReshardedState(partitions, quiet));
  for (std::unique_ptr<StoredState>& each : stored) {
    if (Status joined = state->Join(std::move(each)); !joined) return Fail(joined.error());
  }
  if (Status whole = state->CheckWhole(topic); !whole) return Fail(whole.error());
  // The old partition time may be ahead of the clock. The new partitions must not begin ahead of it.
  Position& position = state->position_;
  position.partition_time = std::min(position.partition_time, SystemClock().WallNow());
  for (FilterWholeness& filter : position.filters) {
    if (filter.last_published == LastPublished::kKept) filter.last_published = LastPublished::kUnread;
  }
  StoreDescriptor& descriptor = state->descriptor_;
  descriptor.topics.clear();  // their snapshots are of users in other partitions
  descriptor.identity.topic = topic;
  descriptor.identity.partition_count = partitions;
  return state;
}

Result<std::vector<PartitionHead>> ReshardedState::Heads(CopySink&) {
  std::vector<PartitionHead> heads(static_cast<size_t>(partitions_), {descriptor_, position_});
  for (int32_t partition = 0; partition < partitions_; ++partition)
    heads[static_cast<size_t>(partition)].descriptor.identity.partition = partition;
  return heads;
}

Status ReshardedState::PassRows(CopySink& sink) {
  const auto partitioner = ParsePartitioner(descriptor_.identity.partitioner);
  if (!partitioner) return Fail(Code::kCorrupt, "the descriptor names no partitioner that is known");
  Progress progress("reshard", 0, "rows", quiet_);
  Status passed =
      ForEachMerged(old_, StoredLimits(descriptor_.filters),
                    [&](std::string_view key, std::string_view value, RestingRows& stored) -> Status {
                      const RowLookup lookup{[&](const UserRef& user) { return stored.MarkedIdOf(user); },
                                             [&](const UserRef& user) { return stored.DeltaOf(user); }};
                      const auto to = RouteRow(key, value, *partitioner, partitions_, lookup);
                      if (!to) return Fail(to.error());
                      if (!*to) return {};
                      progress.Update(++rows_);
                      const Row row{RowOp::kPut, key, value};
                      if (**to != kAllPartitions) return sink.Add(**to, row, &stored);
                      ++rows_to_all_;
                      for (int32_t partition = 0; partition < partitions_; ++partition) {
                        if (Status added = sink.Add(partition, row, &stored); !added) return added;
                      }
                      return {};
                    });
  for (int32_t partition = 0; partition < partitions_ && passed; ++partition) passed = sink.End(partition);
  return passed;
}

}  // namespace seen
