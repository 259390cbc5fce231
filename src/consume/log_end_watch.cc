#include "consume/log_end_watch.h"

#include <algorithm>

#include "flow/partition_flow.h"

namespace seen {

LogEndWatch::LogEndWatch(Ask ask, IsChecked is_checked, const OpenPartitions& open, const Clock& clock)
    : ask_(std::move(ask)), is_checked_(std::move(is_checked)), open_(open), clock_(clock) {}

void LogEndWatch::Start() {
  thread_.Start("log-ends", {}, [this] {
    Step();
    return kEvery;
  });
}

void LogEndWatch::Stop() { thread_.Stop(); }

void LogEndWatch::Step() {
  std::vector<int32_t> together;
  std::vector<int32_t> alone;
  std::set<int32_t> still_slow;
  for (const PartitionPointer& partition : open_.All()) {
    if (slow_.contains(partition->partition)) {
      alone.push_back(partition->partition);
      still_slow.insert(partition->partition);
    } else {
      together.push_back(partition->partition);
    }
  }
  slow_ = std::move(still_slow);
  for (auto log = logs_.begin(); log != logs_.end();) {
    const PartitionPointer open = open_.Find(log->first);
    if (open) ConfirmIfChecked(*open, log->second);
    log = open ? std::next(log) : logs_.erase(log);
  }
  if (!together.empty() && !AskFor(together, kQuestion)) slow_.insert(together.begin(), together.end());
  // The slow partitions may all answer again, for example after a pause of this process. So every other step
  // asks them together. Not every step: one partition may still be silent.
  if (alone.size() > 1 && !slow_asked_together_) {
    slow_asked_together_ = true;
    if (AskFor(alone, kSlowQuestion)) slow_.clear();
    return;
  }
  slow_asked_together_ = false;
  // The turn rotates: partitions that don't answer must not use up the time of those that would.
  const auto next = std::upper_bound(alone.begin(), alone.end(), last_slow_asked_);
  std::rotate(alone.begin(), next, alone.end());
  const Instant until = clock_.Now() + kSlowStep;
  for (const int32_t partition : alone) {
    if (clock_.Now() >= until || thread_.stopping()) break;
    last_slow_asked_ = partition;
    if (AskFor({partition}, kSlowQuestion)) slow_.erase(partition);
  }
}

bool LogEndWatch::AskFor(const std::vector<int32_t>& partitions, std::chrono::milliseconds timeout) {
  std::map<int32_t, int64_t> read;  // before the question: no end may be below
  for (const int32_t partition : partitions) {
    if (const PartitionPointer open = open_.Find(partition))
      read[partition] = open->flow->state.next_offset();
  }
  const Instant asked_at = clock_.Now();
  const auto ends = ask_(partitions, timeout);
  if (!ends) return false;  // ages keep growing, which shows the problem
  for (const auto& [partition, end] : *ends) {
    const PartitionPointer open = open_.Find(partition);
    if (open && read.contains(partition)) Take(*open, end, end < read[partition], asked_at);
  }
  return true;
}

// The topic may have been recreated while nobody asked: this process stood still, or no broker answered. The
// ends of another log say nothing about the log that was read.
void LogEndWatch::Take(OpenPartition& open, int64_t end, bool is_cut, Instant asked_at) {
  Log& log = logs_.try_emplace(open.partition, Log{asked_at, std::nullopt}).first->second;
  if (is_cut || asked_at - log.asked_at > Freshness::kEndKnownFor)
    log.unchecked = Unchecked{is_cut ? std::nullopt : std::optional(end), asked_at};
  log.asked_at = asked_at;
  ConfirmIfChecked(open, log);
  if (!log.unchecked) open.flow->state.ConfirmEnd(end, asked_at);
}

void LogEndWatch::ConfirmIfChecked(OpenPartition& open, Log& log) {
  if (!log.unchecked || !is_checked_(open.partition, log.unchecked->asked_at)) return;
  if (log.unchecked->end) open.flow->state.ConfirmEnd(*log.unchecked->end, log.unchecked->asked_at);
  log.unchecked.reset();
}

}  // namespace seen
