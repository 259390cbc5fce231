#include "similar/consume/items_handler.h"

#include <algorithm>

#include "consume/stream_status.h"
#include "consume/topic_consumer.h"
#include "flow/log_port.h"
#include "model/partitioner.h"
#include "similar/port/options.h"

namespace seen {

ItemsHandler::ItemsHandler(ItemsHandlerOptions options, ItemIndexes& indexes, DeadLetterSink& dead_letters,
                           ConsumerWait& wait, const Clock& clock)
    : options_(std::move(options)),
      indexes_(indexes),
      dead_letters_(dead_letters),
      wait_(wait),
      clock_(clock) {}

ItemsHandler::~ItemsHandler() = default;

Result<std::shared_ptr<PartitionHandler>> ItemsHandler::Open(const Assignment& assignment, const GroupLog&) {
  if (assignment.partition >= options_.partitions) {
    return Fail(Code::kRefused, "partition " + std::to_string(assignment.partition) +
                                    " was added to topic \"" + options_.topic +
                                    "\", but the indexes of items are for " +
                                    std::to_string(options_.partitions) +
                                    " partitions: languages that moved to it would lose their items. "
                                    "Remedy: start once with --rebuild to build all indexes again");
  }
  auto made =
      std::make_shared<ItemsPartition>(options_, assignment, indexes_, dead_letters_, wait_, clock_, counts_);
  if (Status opened = made->Open(); !opened) return Fail(std::move(opened.error()));
  const MutexLock lock(mutex_);
  open_[assignment.partition] = made;
  return made;
}

Status ItemsHandler::Drop(int32_t partition) { return indexes_.Remove(partition); }

void ItemsHandler::Refused(int32_t partition, const std::string& reason) {
  const MutexLock lock(mutex_);
  refused_.erase(partition);
  if (!reason.empty()) refused_[partition] = reason;
}

Result<SimilarAnswer> ItemsHandler::Similar(const SimilarQuestion& question) {
  const int32_t number =
      PartitionOf(Partitioner::kMurmur2, LanguageKey(question.text.lang), options_.partitions);
  const std::string name = "partition " + std::to_string(number) + " of topic \"" + options_.topic +
                           "\", which has that language, ";
  std::shared_ptr<ItemsPartition> partition;
  {
    const MutexLock lock(mutex_);
    if (const auto refused = refused_.find(number); refused != refused_.end())
      return Fail(Code::kUnavailable, name + "isn't read: " + refused->second);
    if (const auto found = open_.find(number); found != open_.end()) partition = found->second.lock();
  }
  if (!partition) return Fail(Code::kUnavailable, name + "isn't this daemon's; ask the others");
  if (std::string awaited = options_.awaits ? options_.awaits() : ""; !awaited.empty())
    return Fail(Code::kUnavailable, std::move(awaited));
  return partition->Similar(question);
}

void ItemsHandler::AddStatus(const std::vector<PartitionProblem>& problems, ItemsStatus& status) const {
  status.foreign_groups = counts_.groups_repaired.load(std::memory_order_relaxed);
  status.leases_lapsed = counts_.leases_lapsed.load(std::memory_order_relaxed);
  {
    const MutexLock lock(mutex_);
    for (const auto& [number, weak] : open_) {
      if (const auto partition = weak.lock()) status.partitions.push_back(partition->GetStatus());
    }
  }
  for (const PartitionProblem& problem : problems) {
    if (problem.IsRefused()) {
      status.unread.refused.push_back({problem.partition, problem.reason, {}});
      continue;
    }
    auto partition =
        std::find_if(status.partitions.begin(), status.partitions.end(),
                     [&](const ItemsPartitionStatus& open) { return open.partition == problem.partition; });
    if (partition == status.partitions.end()) {
      partition = status.partitions.insert(partition, ItemsPartitionStatus{});
      partition->partition = problem.partition;
    }
    partition->state = problem.kind == PartitionProblem::Kind::kOpening ? "opening" : "held";
    partition->reason = problem.reason;
  }
  const auto note = [&](int32_t partition, const std::string& what) {
    if (status.problem.empty()) status.problem = "partition " + std::to_string(partition) + " is " + what;
  };
  for (const RefusedPartition& refused : status.unread.refused)
    note(refused.partition, "refused: " + refused.reason);
  for (const ItemsPartitionStatus& partition : status.partitions) {
    if (partition.state != "ready") note(partition.partition, partition.state + ": " + partition.reason);
  }
}

}  // namespace seen
