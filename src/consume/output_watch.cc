#include "consume/output_watch.h"

#include <algorithm>
#include <string>

#include "base/log.h"
#include "flow/partition_flow.h"

namespace seen {

void OutputWatch::Start() {
  thread_.Start("output-watch", kEvery, [this] {
    Step();
    return kEvery;
  });
}

void OutputWatch::Step() {
  RaiseFloors();
  LookBack();
  AskEnds();
  // Asked for before the cuts are taken. So the state gets the end of a topic that was cut only after all
  // users were requested.
  auto ends = guard_.Expected();
  for (const OutputPlace& waiting : RepublishCut()) ends.erase(waiting);
  StoreEnds(ends);
  for (const OutputGuard::Range& range : guard_.TakeForeign()) {
    if (thread_.stopping()) return;
    Repair(range);
  }
}

std::set<FilterIndex> OutputWatch::Filters() const {
  std::set<FilterIndex> filters;
  for (const PartitionPointer& open : open_.All()) {
    const auto& policies = open->flow->state.options().filters;
    for (FilterIndex i; i < policies.size(); i = FilterIndex(i + 1)) {
      if (policies[i].snapshot) filters.insert(i);
    }
  }
  return filters;
}

void OutputWatch::RaiseFloors() {
  for (const int32_t partition : guard_.Owned()) {
    const PartitionPointer open = open_.Find(partition);
    if (open && !guard_.KnowsFloors(partition)) guard_.KnowFloors(partition, open->flow->sweep.TopicEnds());
  }
}

// Returns the places that wait for their partition.
std::vector<OutputPlace> OutputWatch::RepublishCut() {
  std::vector<OutputPlace> waiting;
  for (const OutputPlace& place : guard_.TakeCut()) {
    const PartitionPointer open = open_.Find(place.partition);
    if (!open || !open->assigned.load()) {
      guard_.PutBackCut(place);
      waiting.push_back(place);
      continue;
    }
    reporter_.OutputCut(place.partition, open->flow->state.options().filters[place.filter].name);
    open->flow->sweep.RequestAll();  // first: no round begins any more
    open->flow->publish.TakeBackPublishedTo();
    guard_.Requested(place);  // last: until then no beat names the topic
  }
  return waiting;
}

void OutputWatch::StoreEnds(const std::map<OutputPlace, int64_t>& ends) {
  for (const auto& [place, end] : ends) {
    const PartitionPointer open = open_.Find(place.partition);
    if (open && open->assigned.load() && guard_.KnowsFloors(place.partition))
      open->flow->sweep.NoteTopicEnd(place.filter, end);
  }
}

void OutputWatch::LookBack() {
  const std::vector<int32_t> partitions = guard_.TakeUnverified();
  const std::set<FilterIndex> filters = Filters();
  for (const int32_t partition : partitions) {
    bool all = open_.Find(partition) != nullptr;  // if not, it is being opened
    for (const FilterIndex filter : filters) {
      if (!all || thread_.stopping()) break;
      const auto recent = topics_.FindRecent(filter, partition, kLookBack);
      if (recent) guard_.LookBack({filter, partition}, recent->from, recent->to);
      all = recent || recent.error().code == Code::kNotFound;
    }
    if (!all) guard_.PutBackUnverified(partition);
  }
}

void OutputWatch::AskEnds() {
  const std::vector<int32_t> partitions = guard_.Owned();
  if (partitions.empty()) return;
  const auto expected = guard_.Expected();
  for (const FilterIndex filter : Filters()) {
    const auto ends = topics_.Ends(filter, partitions);
    if (!ends) {
      if (unasked_budget_.Allow())
        log::Warning(
            "the ends of a snapshot topic aren't known: foreign records there aren't noticed meanwhile",
            {{"reason", ends.error().message}});
      continue;
    }
    for (const auto& [partition, end] : *ends) {
      const auto known = expected.find({filter, partition});
      guard_.AtEnd({filter, partition}, known == expected.end() ? std::nullopt : std::optional(known->second),
                   end);
    }
  }
}

// Repairs one page of the range. The rest waits for the next step.
void OutputWatch::Repair(const OutputGuard::Range& range) {
  const PartitionPointer open = open_.Find(range.place.partition);
  if (!open || !open->assigned.load()) return;
  const FilterPolicy& filter = open->flow->state.options().filters[range.place.filter];
  std::vector<ForeignUsers::User> users;
  int64_t next = range.from;
  const auto take = [&](std::span<const Record> records) -> Status {
    if (thread_.stopping()) return Fail(Code::kUnavailable, "the daemon stops");
    for (const Record& record : records) {
      if (record.offset >= range.to || users.size() == ForeignUsers::kWaitingMax) return {};
      users.push_back({filter.id, UserKeyOf(record.key), std::string(record.key)});
      next = record.offset + 1;
    }
    return {};
  };
  const Status read =
      topics_.ReadRange(range.place.filter, range.place.partition, range.from, range.to, take);
  if ((!read && read.error().code != Code::kNotFound) || !open->flow->foreign_users.Add(users))
    return guard_.PutBack(range);
  if (!users.empty() && range.is_foreign)
    reporter_.ForeignSnapshots(range.place.partition, filter.name, users.size());
  if (users.size() == ForeignUsers::kWaitingMax && next < range.to)
    guard_.PutBack({range.place, next, range.to, range.is_foreign});
}

}  // namespace seen
