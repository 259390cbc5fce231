#include "kafka/message_record.h"

#include "flow/replay_runs.h"

namespace seen::kafka {

std::optional<std::string_view> HeaderOf(const rd_kafka_message_t& message, const char* name) {
  rd_kafka_headers_t* headers = nullptr;
  const void* value = nullptr;
  size_t bytes = 0;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_last(headers, name, &value, &bytes) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      value == nullptr) {
    return std::nullopt;
  }
  return std::string_view(static_cast<const char*>(value), bytes);
}

bool ReadReplayNote(const rd_kafka_message_t& message, ReplayNote& note) {
  const auto header = [&](std::string_view name) {
    return HeaderOf(message, name.data()).value_or(std::string_view());
  };
  const std::string_view run = header(kReplayHeader);
  if (run.empty()) return false;
  note.run = run.substr(0, kReplayRunBytesMax);
  note.publishes_live = header(kReplayPublishHeader) == kReplayPublishLive;
  const std::string_view mark = header(kReplayMarkHeader);
  note.kind = mark == kReplayBegin ? ReplayNote::Kind::kBegin
              : mark == kReplayEnd ? ReplayNote::Kind::kEnd
                                   : ReplayNote::Kind::kRecord;
  return true;
}

const ReplayNote* ReplayProbe::Look(const rd_kafka_message_t& message) {
  if (looks_left_ == 0 && message.payload != nullptr && ++records_ % kOneOf != 0) return nullptr;
  ReplayNote note;
  if (!ReadReplayNote(message, note)) {
    if (looks_left_ > 0) --looks_left_;
    return nullptr;
  }
  looks_left_ = kLookedAt;
  return &notes_.emplace_back(note);
}

}  // namespace seen::kafka
