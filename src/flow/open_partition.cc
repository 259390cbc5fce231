#include "flow/open_partition.h"

#include "flow/partition_flow.h"

namespace seen {
namespace {

void SetReason(std::map<int32_t, std::string>& reasons, int32_t partition, const std::string& reason) {
  reasons.erase(partition);
  if (!reason.empty()) reasons[partition] = reason;
}

std::string ReasonIn(const std::map<int32_t, std::string>& reasons, int32_t partition) {
  const auto found = reasons.find(partition);
  return found == reasons.end() ? std::string() : found->second;
}

}  // namespace

OpenPartition::OpenPartition() = default;
OpenPartition::~OpenPartition() = default;

bool OpenPartition::AwaitsRekeying() const {
  return flow->state.next_offset() < answers_from.load(std::memory_order_acquire);
}

bool OpenPartition::CaughtUp() const { return flow->state.CaughtUp() && !AwaitsRekeying(); }

void OpenPartition::Stop(std::string reason) {
  {
    const MutexLock lock(reason_mutex_);
    stop_reason_ = std::move(reason);
  }
  stopped.store(true, std::memory_order_release);
}

std::string OpenPartition::stop_reason() const {
  const MutexLock lock(reason_mutex_);
  return stop_reason_;
}

PartitionPointer OpenPartitions::Find(int32_t partition) const {
  const MutexLock lock(mutex_);
  const auto found = open_.find(partition);
  return found == open_.end() ? nullptr : found->second;
}

std::vector<PartitionPointer> OpenPartitions::All() const {
  const MutexLock lock(mutex_);
  std::vector<PartitionPointer> all;
  all.reserve(open_.size());
  for (const auto& [partition, open] : open_) all.push_back(open);
  return all;
}

void OpenPartitions::Add(PartitionPointer open) {
  const MutexLock lock(mutex_);
  open->ticket_tag = ++opened_count_ * 2 * kUnexposedTag;
  awaited_.erase(open->partition);
  open_[open->partition] = std::move(open);
}

void OpenPartitions::Refuse(int32_t partition, const std::string& reason) {
  const MutexLock lock(mutex_);
  SetReason(refusals_, partition, reason);
}

void OpenPartitions::Await(int32_t partition, const std::string& reason) {
  const MutexLock lock(mutex_);
  SetReason(awaited_, partition, reason);
}

std::string OpenPartitions::AwaitedFor(int32_t partition) const {
  const MutexLock lock(mutex_);
  return ReasonIn(awaited_, partition);
}

std::string OpenPartitions::RefusalOf(int32_t partition) const {
  const MutexLock lock(mutex_);
  return ReasonIn(refusals_, partition);
}

PartitionPointer OpenPartitions::Take(int32_t partition) {
  const MutexLock lock(mutex_);
  awaited_.erase(partition);
  const auto found = open_.find(partition);
  if (found == open_.end()) return nullptr;
  PartitionPointer open = std::move(found->second);
  open_.erase(found);
  return open;
}

}  // namespace seen
