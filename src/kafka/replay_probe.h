#pragma once
// Which records of a partition belong to a replay, by their headers. Internal to this room.

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <deque>

#include "flow/log_port.h"

namespace seen::kafka {

/// What the headers say; false: nothing of a replay.
bool ReadReplayNote(const rd_kafka_message_t& message, ReplayNote& note);

/// Reading headers costs as much as a record does, so while none comes of a replay only some are read: one of
/// 64, and those of records without a value, which begin and end a run. One thread.
class ReplayProbe {
 public:
  /// nullptr: a live record, or one whose headers weren't read. It lasts until Clear.
  const ReplayNote* Look(const rd_kafka_message_t& message);
  void Clear() { notes_.clear(); }

 private:
  static constexpr uint32_t kLookedAt = 4096;  // in a row, after the last of a replay and at first
  static constexpr uint32_t kOneOf = 64;
  uint32_t looks_left_ = kLookedAt;
  uint32_t records_ = 0;
  std::deque<ReplayNote> notes_;
};

}  // namespace seen::kafka
