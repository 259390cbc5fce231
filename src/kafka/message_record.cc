#include "kafka/message_record.h"

#include <string_view>

#include "flow/replay_runs.h"

namespace seen::kafka {
namespace {

std::string_view HeaderOf(const rd_kafka_headers_t* headers, std::string_view name) {
  const void* value = nullptr;
  size_t bytes = 0;
  if (rd_kafka_header_get_last(headers, name.data(), &value, &bytes) != RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return {static_cast<const char*>(value), value == nullptr ? 0 : bytes};
}

}  // namespace

bool ReadReplayNote(const rd_kafka_message_t& message, ReplayNote& note) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
  const std::string_view run = HeaderOf(headers, kReplayHeader);
  if (run.empty()) return false;
  note.run = run.substr(0, kReplayRunBytesMax);
  note.publishes_live = HeaderOf(headers, kReplayPublishHeader) == kReplayPublishLive;
  const std::string_view mark = HeaderOf(headers, kReplayMarkHeader);
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
