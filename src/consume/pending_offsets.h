#pragma once
// Tracks which offsets of a partition are in flight. They may be acknowledged in any order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace seen {

/// One thread at a time.
class PendingOffsets {
 public:
  /// Everything below `next_offset` is done.
  explicit PendingOffsets(int64_t next_offset) : next_offset_(next_offset) {}

  /// The record at `offset` is in flight from here on, under the number returned. `offset` isn't below
  /// next_offset().
  uint32_t Add(int64_t offset, uint32_t event = 0) {
    next_offset_ = offset + 1;
    pending_.push_back({offset, event, false});
    return first_ + static_cast<uint32_t>(pending_.size() - 1);
  }
  /// Takes the newest record back: it wasn't queued.
  void TakeBack() {
    next_offset_ = pending_.back().offset;
    pending_.pop_back();
  }
  /// The record at `offset` has several events: it isn't done before End, whatever was acknowledged.
  void Begin(int64_t offset) { held_ = offset; }
  void End() { held_ = kNone; }
  /// No record below `next_offset` is left to take. Records in flight stay.
  void Pass(int64_t next_offset) {
    if (next_offset > next_offset_) next_offset_ = next_offset;
  }
  /// Unknown numbers, and numbers from before a Rewind, have no effect.
  void Done(uint32_t number) {
    if (!Knows(number)) return;
    pending_[number - first_].done = true;
    while (!pending_.empty() && pending_.front().done) {
      pending_.pop_front();
      ++first_;
    }
  }
  bool Knows(uint32_t number) const { return number - first_ < pending_.size(); }
  int64_t OffsetOf(uint32_t number) const { return pending_[number - first_].offset; }
  uint32_t EventOf(uint32_t number) const { return pending_[number - first_].event; }

  /// Forgets the records in flight. They will be read again from position().
  void Rewind() {
    next_offset_ = position();
    held_ = kNone;
    first_ += static_cast<uint32_t>(pending_.size());
    pending_.clear();
  }

  int64_t next_offset() const { return std::min(next_offset_, held_); }  // of the next record to take
  /// Everything below it is done.
  int64_t position() const {
    return std::min(held_, pending_.empty() ? next_offset_ : pending_.front().offset);
  }
  size_t size() const { return pending_.size(); }

 private:
  static constexpr int64_t kNone = INT64_MAX;
  struct Entry {
    int64_t offset;
    uint32_t event;  // which of the record's events; 0: it is one
    bool done;
  };
  std::deque<Entry> pending_;
  uint32_t first_ = 0;  // number of pending_.front(); wraps
  int64_t next_offset_;
  int64_t held_ = kNone;  // the record of which not all events were taken
};

}  // namespace seen
