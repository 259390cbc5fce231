#include "consume/log_end_watch.h"

#include <algorithm>

#include "flow/partition_flow.h"

namespace seen {

LogEndWatch::LogEndWatch(Ask ask, const OpenPartitions& open, const Clock& clock)
    : ask_(std::move(ask)), open_(open), clock_(clock) {}

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
  const Instant asked_at = clock_.Now();
  const auto ends = ask_(partitions, timeout);
  if (!ends) return false;  // ages keep growing, which shows the problem
  for (const auto& [partition, end] : *ends) {
    if (const PartitionPointer open = open_.Find(partition)) open->flow->state.ConfirmEnd(end, asked_at);
  }
  return true;
}

}  // namespace seen
