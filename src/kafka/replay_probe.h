#pragma once
// Finds the records of a partition that belong to a replay, by their headers. Internal to this room.

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <deque>

#include "flow/log_port.h"

namespace seen::kafka {

/// Reads the headers of a replay. False: there are none.
bool ReadReplayNote(const rd_kafka_message_t& message, ReplayNote& note);

/// Reading headers costs as much as reading a record. So while no record of a replay comes, only some headers
/// are read. These are the headers of one record in 64, and of records without a value, which begin and end a
/// run. One thread.
class ReplayProbe {
 public:
  /// nullptr: a live record, or a record whose headers weren't read. The note is valid until Clear.
  const ReplayNote* Look(const rd_kafka_message_t& message);
  void Clear() { notes_.clear(); }

 private:
  static constexpr uint32_t kLookedAt = 4096;  // in a row: at first, and after the last record of a replay
  static constexpr uint32_t kOneOf = 64;
  uint32_t looks_left_ = kLookedAt;
  uint32_t records_ = 0;
  std::deque<ReplayNote> notes_;
};

}  // namespace seen::kafka
