#include "support/fake_group_log.h"

#include <algorithm>
#include <thread>

namespace seen::sim {
namespace {
constexpr std::chrono::milliseconds kNap{1};
}

int64_t FakeTopic::Append(int32_t partition, Entry entry) {
  const std::lock_guard lock(mutex_);
  Partition& to = partitions_.at(static_cast<size_t>(partition));
  to.entries.push_back(std::move(entry));
  return to.low + static_cast<int64_t>(to.entries.size()) - 1;
}

void FakeTopic::AddPartition() {
  const std::lock_guard lock(mutex_);
  partitions_.emplace_back();
}

void FakeTopic::DeleteTo(int32_t partition, int64_t low) {
  const std::lock_guard lock(mutex_);
  Partition& of = partitions_.at(static_cast<size_t>(partition));
  while (of.low < low && !of.entries.empty()) {
    of.entries.pop_front();
    ++of.low;
  }
}

void FakeTopic::Recreate(int32_t partition) {
  const std::lock_guard lock(mutex_);
  Partition& of = partitions_.at(static_cast<size_t>(partition));
  of.entries.clear();
  of.low = 0;
}

void FakeTopic::Commit(const std::map<int32_t, int64_t>& offsets) {
  for (const auto& [partition, offset] : offsets) {
    if (on_commit) on_commit(partition, offset);
    SetCommitted(partition, offset);
  }
}

void FakeTopic::SetCommitted(int32_t partition, int64_t offset) {
  const std::lock_guard lock(mutex_);
  partitions_.at(static_cast<size_t>(partition)).committed = offset;
}

int32_t FakeTopic::partition_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int32_t>(partitions_.size());
}

Watermarks FakeTopic::watermarks(int32_t partition) const {
  const std::lock_guard lock(mutex_);
  const Partition& of = partitions_.at(static_cast<size_t>(partition));
  return {of.low, of.low + static_cast<int64_t>(of.entries.size())};
}

std::optional<int64_t> FakeTopic::committed(int32_t partition) const {
  const std::lock_guard lock(mutex_);
  return partitions_.at(static_cast<size_t>(partition)).committed;
}

int64_t FakeTopic::OffsetForTime(int32_t partition, TimeMs time) const {
  const std::lock_guard lock(mutex_);
  const Partition& of = partitions_.at(static_cast<size_t>(partition));
  const auto found = std::find_if(of.entries.begin(), of.entries.end(),
                                  [&](const Entry& entry) { return entry.timestamp >= time; });
  return of.low + (found - of.entries.begin());
}

std::vector<FakeTopic::Entry> FakeTopic::Read(int32_t partition, int64_t offset, size_t records_max) const {
  const std::lock_guard lock(mutex_);
  const Partition& of = partitions_.at(static_cast<size_t>(partition));
  std::vector<Entry> read;
  for (auto at = static_cast<size_t>(offset - of.low); at < of.entries.size() && read.size() < records_max;
       ++at)
    read.push_back(of.entries[at]);
  return read;
}

FakeGroupLog::FakeGroupLog(FakeTopic& topic, RebalanceHandler& handler, int workers, size_t batch_records_max)
    : topic_(topic), handler_(handler), batch_records_max_(batch_records_max) {
  for (int i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>());
}

void FakeGroupLog::Assign(std::vector<int32_t> partitions) {
  const std::lock_guard lock(mutex_);
  rebalances_.push_back({true, std::move(partitions), false});
}

void FakeGroupLog::Revoke(std::vector<int32_t> partitions, bool lost) {
  const std::lock_guard lock(mutex_);
  rebalances_.push_back({false, std::move(partitions), lost});
}

void FakeGroupLog::Fence() {
  const std::lock_guard lock(mutex_);
  fenced_ = true;
}

std::set<int32_t> FakeGroupLog::read_partitions() {
  std::set<int32_t> read;
  for (const auto& worker : workers_) {
    const std::lock_guard lock(worker->mutex);
    for (const auto& [partition, state] : worker->read) {
      if (!state.stopped) read.insert(partition);
    }
  }
  return read;
}

Status FakeGroupLog::PollControl(std::chrono::milliseconds timeout) {
  std::deque<Rebalance> rebalances;
  {
    const std::lock_guard lock(mutex_);
    if (fenced_) return Fail(Code::kRefused, "fenced by another process");
    rebalances.swap(rebalances_);
  }
  for (const Rebalance& rebalance : rebalances) Apply(rebalance);
  if (reachable_) {
    if (Status opened = OpenPending(); !opened) return opened;
  }
  for (const auto& worker : workers_) {
    const std::lock_guard lock(worker->mutex);
    for (auto& [partition, state] : worker->read) state.seeking = false;
  }
  if (timeout > std::chrono::milliseconds(0)) std::this_thread::sleep_for(kNap);
  return {};
}

void FakeGroupLog::Apply(const Rebalance& rebalance) {
  if (rebalance.assigns) {
    const std::lock_guard lock(mutex_);
    pending_.insert(rebalance.partitions.begin(), rebalance.partitions.end());
    return;
  }
  std::vector<int32_t> revoked;
  for (const int32_t partition : rebalance.partitions) {
    {
      const std::lock_guard lock(mutex_);
      pending_.erase(partition);
    }
    {
      const std::lock_guard lock(WorkerFor(partition).mutex);
      WorkerFor(partition).read.erase(partition);
    }
    if (owned_.erase(partition) > 0) revoked.push_back(partition);
  }
  if (!revoked.empty()) handler_.OnRevoked(revoked, rebalance.lost);
}

Status FakeGroupLog::OpenPending() {
  std::set<int32_t> pending;
  {
    const std::lock_guard lock(mutex_);
    pending = pending_;
  }
  owned_.insert(pending.begin(), pending.end());
  handler_.OnAssigning(std::vector<int32_t>(pending.begin(), pending.end()), topic_.partition_count());
  for (const int32_t partition : pending) {
    const auto from = handler_.OnAssigned(
        {partition, topic_.partition_count(), topic_.watermarks(partition), topic_.committed(partition)});
    if (!from) {
      if (from.error().code == Code::kUnavailable) continue;
      return Fail(from.error());
    }
    {
      const std::lock_guard lock(mutex_);
      pending_.erase(partition);
    }
    if (!*from) continue;
    const std::lock_guard lock(WorkerFor(partition).mutex);
    WorkerFor(partition).read[partition] = State{**from, false, false, -1};
  }
  return {};
}

size_t FakeGroupLog::PollWorker(int worker_number, std::chrono::milliseconds timeout,
                                WorkerHandler& handler) {
  Worker& worker = *workers_.at(static_cast<size_t>(worker_number));
  size_t delivered = 0;
  {
    const std::lock_guard lock(worker.mutex);
    std::vector<int32_t> partitions;
    if (reachable_ && !closed_) {
      for (const auto& [partition, state] : worker.read) partitions.push_back(partition);
    }
    for (const int32_t partition : partitions) {
      // An earlier handler call may have stopped this partition.
      const auto found = worker.read.find(partition);
      if (found != worker.read.end()) delivered += PollPartition(partition, found->second, handler);
    }
    handler.OnPolled(worker_number);
  }
  if (delivered == 0 && timeout > std::chrono::milliseconds(0)) std::this_thread::sleep_for(kNap);
  return delivered;
}

size_t FakeGroupLog::PollPartition(int32_t partition, State& state, WorkerHandler& handler) {
  if (state.stopped || state.seeking || state.out_of_range) return 0;
  const Watermarks marks = topic_.watermarks(partition);
  if (state.next_offset < marks.low || state.next_offset > marks.high) {
    state.out_of_range = true;
    handler.OnOffsetOutOfRange(partition, state.next_offset, marks);
    return 0;
  }
  const auto entries = topic_.Read(partition, state.next_offset, batch_records_max_);
  std::vector<Record> records;
  for (const FakeTopic::Entry& entry : entries) {
    Record& record = records.emplace_back();
    record.offset = state.next_offset++;
    record.timestamp = entry.timestamp;
    record.key = entry.key;
    record.value = entry.value;
  }
  PartitionBatch batch{partition, records, -1};
  if (state.next_offset >= marks.high && state.end_told != state.next_offset) {
    batch.end_offset = state.end_told = state.next_offset;
  }
  if (!records.empty() || batch.end_offset >= 0) handler.OnBatch(batch);
  return records.size();
}

Status FakeGroupLog::Seek(int32_t partition, int64_t offset) {
  Worker& worker = WorkerFor(partition);
  const std::lock_guard lock(worker.mutex);
  const auto found = worker.read.find(partition);
  if (found == worker.read.end()) return Fail(Code::kNotFound, "not read");
  found->second = State{offset, true, false, -1};
  return {};
}

void FakeGroupLog::StopReading(int32_t partition) {
  Worker& worker = WorkerFor(partition);
  const std::lock_guard lock(worker.mutex);
  if (const auto found = worker.read.find(partition); found != worker.read.end())
    found->second.stopped = true;
}

Result<Watermarks> FakeGroupLog::QueryWatermarks(int32_t partition, std::chrono::milliseconds) const {
  if (!reachable_) return Fail(Code::kUnavailable, "brokers are away");
  return topic_.watermarks(partition);
}

Result<int64_t> FakeGroupLog::OffsetForTime(int32_t partition, TimeMs time, std::chrono::milliseconds) const {
  if (!reachable_) return Fail(Code::kUnavailable, "brokers are away");
  return topic_.OffsetForTime(partition, time);
}

Result<std::map<int32_t, int64_t>> FakeGroupLog::GroupCommitted(std::chrono::milliseconds) const {
  if (!reachable_) return Fail(Code::kUnavailable, "brokers are away");
  std::map<int32_t, int64_t> committed;
  for (int32_t partition = 0; partition < topic_.partition_count(); ++partition)
    committed[partition] = topic_.committed(partition).value_or(-1);
  return committed;
}

void FakeGroupLog::Commit(const std::map<int32_t, int64_t>& offsets) {
  if (reachable_) topic_.Commit(offsets);
}

void FakeGroupLog::Close() {
  if (closed_.exchange(true)) return;
  Apply({false, {owned_.begin(), owned_.end()}, false});
}

bool FakeGroupLog::opening() const {
  const std::lock_guard lock(mutex_);
  return !pending_.empty();
}

}  // namespace seen::sim
