#pragma once
// Turns librdkafka's message into the flow's record, and finds the records that belong to a replay. Internal
// to this room.

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "flow/log_port.h"

namespace seen::kafka {

/// The log has this offset no more, or not yet.
inline bool IsOutOfRange(rd_kafka_resp_err_t error) {
#if RD_KAFKA_VERSION >= 0x020100ff
  if (error == RD_KAFKA_RESP_ERR__LOG_TRUNCATION) return true;
#endif
  return error == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || error == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
}

/// The record's views and headers are valid as long as the message.
inline Record RecordOf(const rd_kafka_message_t& message) {
  Record record;
  record.offset = message.offset;
  record.timestamp = {rd_kafka_message_timestamp(&message, nullptr)};
  record.key = {static_cast<const char*>(message.key), message.key == nullptr ? 0 : message.key_len};
  record.value_is_null = message.payload == nullptr;
  record.value = {static_cast<const char*>(message.payload), record.value_is_null ? 0 : message.len};
  record.message = &message;
  return record;
}

/// Valid as long as the message. nullopt: no header has that name, or it is null.
std::optional<std::string_view> HeaderOf(const rd_kafka_message_t& message, const char* name);

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
