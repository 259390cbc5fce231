#include "flow/sweep_progress.h"

#include "base/byte_codec.h"

namespace seen {
namespace {
constexpr uint8_t kVersion = 1;
constexpr uint8_t kHasDone = 1, kHasRunning = 2, kHasCursor = 4, kHasRendered = 8, kHasEnded = 16,
                  kHasTopicEnds = 32;
}  // namespace

std::string EncodeSweepProgress(const SweepProgress& progress) {
  std::string out;
  const bool has_topic_ends = std::any_of(progress.filters.begin(), progress.filters.end(),
                                          [](const auto& filter) { return filter.topic_end >= 0; });
  PutLittleEndian(kVersion, out);
  const int flags = (progress.done ? kHasDone : 0) | (progress.running ? kHasRunning : 0) |
                    (progress.cursor ? kHasCursor : 0) | (progress.rendered ? kHasRendered : 0) |
                    (progress.ended > 0 ? kHasEnded : 0) | (has_topic_ends ? kHasTopicEnds : 0);
  PutLittleEndian(static_cast<uint8_t>(flags), out);
  if (progress.done) PutLittleEndian(progress.done->since_epoch, out);
  if (progress.running) PutLittleEndian(progress.running->since_epoch, out);
  if (progress.cursor) {
    PutLittleEndian(progress.cursor->filter.number(), out);
    PutLittleEndian(progress.cursor->user.high, out);
    PutLittleEndian(progress.cursor->user.low, out);
  }
  if (progress.rendered) PutLittleEndian(progress.rendered->since_epoch, out);
  if (progress.ended > 0) PutLittleEndian(progress.ended, out);
  PutLittleEndian(static_cast<uint16_t>(progress.filters.size()), out);
  for (const SweepProgress::Filter& filter : progress.filters) {
    PutLittleEndian(filter.id.number(), out);
    PutLittleEndian(filter.rendering, out);
    PutLittleEndian(static_cast<uint8_t>(filter.whole), out);
    if (has_topic_ends) PutLittleEndian(filter.topic_end, out);
  }
  return out;
}

Result<SweepProgress> DecodeSweepProgress(std::string_view bytes) {
  FieldReader in(bytes);
  const auto version = in.Get<uint8_t>();
  const auto flags = in.Get<uint8_t>();
  SweepProgress progress;
  if (flags & kHasDone) progress.done = Day{in.Get<int32_t>()};
  if (flags & kHasRunning) progress.running = Day{in.Get<int32_t>()};
  if (flags & kHasCursor) {
    UserRef cursor;
    cursor.filter = FilterId(size_t{in.Get<uint16_t>()});
    cursor.user.high = in.Get<uint64_t>();
    cursor.user.low = in.Get<uint64_t>();
    progress.cursor = cursor;
  }
  if (flags & kHasRendered) progress.rendered = Day{in.Get<int32_t>()};
  if (flags & kHasEnded) progress.ended = in.Get<uint32_t>();
  const auto count = in.Get<uint16_t>();
  uint8_t whole = 0;
  int64_t topic_end = -1;
  for (uint16_t i = 0; i < count && in.ok(); ++i) {
    SweepProgress::Filter filter;
    filter.id = FilterId(size_t{in.Get<uint16_t>()});
    filter.rendering = in.Get<uint64_t>();
    const auto flag = in.Get<uint8_t>();
    filter.whole = flag != 0;
    if (flags & kHasTopicEnds) filter.topic_end = in.Get<int64_t>();
    whole = std::max(whole, flag);
    topic_end = std::min(topic_end, filter.topic_end);
    progress.filters.push_back(filter);
  }
  if (version != kVersion || flags > 63 || whole > 1 || topic_end < -1 || !in.Complete()) {
    return Fail(Code::kCorrupt,
                "sweep: " + std::to_string(bytes.size()) + " bytes that are not its progress, version 1");
  }
  return progress;
}

}  // namespace seen
