#pragma once
// Turns librdkafka's message into the flow's record. Internal to this room.

#include <librdkafka/rdkafka.h>

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

}  // namespace seen::kafka
