#include "flow/partition_state.h"

#include <algorithm>
#include <utility>

#include "base/result.h"

namespace seen {
namespace {
constexpr size_t kLostRangesMax = 64;

// A generation that the state has stays, also while updates are off: later ones may be compared with it.
int64_t GenerationOf(const PartitionOptions& options, const std::optional<Position>& position) {
  if (position && position->generation != 0) return position->generation;
  return options.updates ? options.updates->generation_if_none : 0;
}
}  // namespace

PartitionState::PartitionState(PartitionOptions options, const std::optional<Position>& position,
                               int64_t start_offset, int64_t high_watermark, Instant now)
    : options_(std::move(options)),
      filters_(options_),
      generation_(GenerationOf(options_, position)),
      wholeness_(options_.filters, position, start_offset),
      caught_up_at_(high_watermark),
      opened_read_to_(position ? position->ReadTo() : start_offset),
      next_offset_(position ? position->next_offset : start_offset),
      partition_time_ms_(position ? position->partition_time.value : 0),
      checkpoint_offset_(position ? position->next_offset : -1),
      checkpoint_time_ms_(position ? position->partition_time.value : 0),
      tails_since_ns_(now.time_since_epoch().count()),
      high_watermark_(high_watermark) {
  if (position) lost_ranges_ = position->lost_ranges;
  NoteCaughtUp();
}

PartitionState::Tails PartitionState::GetTails() const {
  const MutexLock lock(tails_mutex_);
  return tails_;
}

int64_t PartitionState::LagMessages() const {
  return std::max<int64_t>(0, high_watermark_.load(std::memory_order_relaxed) - next_offset());
}

AsOf PartitionState::GetAsOf(Instant now) const {
  const int64_t next = next_offset();
  const Freshness::Reading reading = freshness_.At(now, next);
  AsOf as_of;
  as_of.partition_time = partition_time();
  if (reading.end_is_known)
    as_of.lag_messages = std::max<int64_t>(0, high_watermark_.load(std::memory_order_relaxed) - next);
  as_of.age = reading.age;
  return as_of;
}

AsOf PartitionState::GetAsOf(FilterIndex filter_index, Instant now, TimeMs wall) const {
  AsOf as_of = GetAsOf(now);
  as_of.complete_since = wholeness_.IncompleteSince(filter_index, wall);
  return as_of;
}

void PartitionState::ConfirmEnd(int64_t end, Instant asked_at) {
  SetWatermarks(-1, end);
  freshness_.EndConfirmed(end, asked_at, next_offset());
}

void PartitionState::SetWatermarks(int64_t low, int64_t high) {
  if (low >= 0) low_watermark_.store(low, std::memory_order_relaxed);
  int64_t known = high_watermark_.load(std::memory_order_relaxed);
  while (high > known && !high_watermark_.compare_exchange_weak(known, high, std::memory_order_relaxed)) {
  }
}

void PartitionState::NoteCaughtUp() {
  if (next_offset_.load(std::memory_order_relaxed) >= caught_up_at_) {
    caught_up_.store(true, std::memory_order_release);
  }
}

void PartitionState::Lose(const LostRange& range) {
  {
    const MutexLock lock(notes_mutex_);
    if (lost_ranges_.size() == kLostRangesMax) {  // the oldest two become one range that spans both
      lost_ranges_[1].from = lost_ranges_[0].from;
      lost_ranges_.erase(lost_ranges_.begin());
    }
    lost_ranges_.push_back(range);
  }
  lost_ranges_changed_.store(true, std::memory_order_release);
}

std::vector<LostRange> PartitionState::TakeLostRanges() {
  lost_ranges_changed_.store(false, std::memory_order_release);
  const MutexLock lock(notes_mutex_);
  return lost_ranges_;
}

void PartitionState::AcknowledgeLostRanges() {
  {
    const MutexLock lock(notes_mutex_);
    if (lost_ranges_.empty()) return;
    lost_ranges_.clear();
  }
  lost_ranges_changed_.store(true, std::memory_order_release);
}

void PartitionState::NoteMisrouted(const MisroutedExample& example) {
  const MutexLock lock(notes_mutex_);
  ++misrouted_;
  misrouted_last_ = example;
}

void PartitionState::ShowFirst(std::shared_ptr<Tail> tail) {
  const MutexLock lock(tails_mutex_);
  tails_.active = std::move(tail);
}

void PartitionState::Freeze(std::unique_ptr<FrozenTail> frozen, std::shared_ptr<Tail> fresh) {
  Check(!HasFrozen(), "a tail is still frozen");
  {
    const MutexLock lock(tails_mutex_);
    tails_ = {std::move(fresh), frozen->tail};
  }
  frozen_ = std::move(frozen);
  has_frozen_.store(true, std::memory_order_release);
}

void PartitionState::DropFrozen(const Position& position) {
  checkpoint_time_ms_.store(position.partition_time.value, std::memory_order_release);
  tails_since_ns_.store(frozen_->next_since.time_since_epoch().count(), std::memory_order_release);
  {
    // Readers who took the frozen tail keep it.
    const MutexLock lock(tails_mutex_);
    tails_.frozen = nullptr;
  }
  checkpoint_offset_.store(position.next_offset, std::memory_order_release);
  frozen_.reset();
  has_frozen_.store(false, std::memory_order_release);
}

void PartitionState::NoteCheckpoint(const CheckpointReport& report, TimeMs wall_now) {
  const MutexLock lock(notes_mutex_);
  checkpoint_problem_.clear();
  last_checkpoint_at_ = wall_now;
  last_checkpoint_ = report;
}

void PartitionState::NoteCheckpointProblem(std::string problem) {
  const MutexLock lock(notes_mutex_);
  checkpoint_problem_ = std::move(problem);
}

void PartitionState::FillStatus(PartitionStatus& status, TimeMs wall) const {
  status.partition = options_.partition;
  status.next_offset = next_offset();
  status.checkpoint_offset = checkpoint_offset();
  status.low_watermark = low_watermark_.load(std::memory_order_relaxed);
  status.high_watermark = high_watermark_.load(std::memory_order_relaxed);
  status.lag_messages = LagMessages();
  status.partition_time = partition_time();
  const Tails tails = GetTails();
  status.tail_bytes = tails.active->bytes() + (tails.frozen ? tails.frozen->bytes() : 0);
  status.state = CaughtUp() ? "ready" : "catching_up";
  if (!CaughtUp()) {
    status.reason = "reading up to offset " + std::to_string(caught_up_at_) + ", at " +
                    std::to_string(status.next_offset);
  }
  for (size_t i = 0; i < options_.filters.size(); ++i)
    status.filters.push_back({options_.filters[i].name, wholeness_.IncompleteSince(FilterIndex(i), wall)});
  const MutexLock lock(notes_mutex_);
  status.misrouted = misrouted_;
  status.misrouted_last = misrouted_last_;
  status.lost_ranges = lost_ranges_;
  status.last_checkpoint_at = last_checkpoint_at_;
  status.last_checkpoint = last_checkpoint_;
  if (!checkpoint_problem_.empty()) {
    status.state = "held";
    status.reason = "checkpoint failed: " + checkpoint_problem_;
  }
}

}  // namespace seen
