#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "kafka/reader.h"
#include "tools/load/replay_source.h"

namespace seen {
namespace {

// A ticket is a partition and a place in its sequence.
constexpr int kSequenceBits = 44;

class TopicSource final : public ReplaySource {
 public:
  TopicSource(TopicRange range, std::unique_ptr<TopicReader> reader)
      : range_(std::move(range)), reader_(std::move(reader)) {
    for (const TopicReader::Range& part : reader_->ranges()) {
      tracks_[part.partition].next_offset = part.from;
      total_ += static_cast<uint64_t>(part.to - part.from);
    }
  }

  Result<bool> Next(const Use& use) override {
    Status used;
    auto more = reader_->Poll(
        std::chrono::milliseconds(200), [&](int32_t partition, std::span<const Record> records) {
          Track& track = tracks_[partition];
          for (const Record& record : records) {
            if (!used) return;
            const uint64_t sequence = track.finished.Begin();
            track.offsets.push_back(record.offset);
            current_partition_ = partition;
            current_offset_ = record.offset;
            used = use({.ticket = static_cast<uint64_t>(partition) << kSequenceBits | sequence,
                        .bytes = record.value,
                        .is_null = record.value_is_null});
          }
        });
    if (!used) return Fail(used.error());
    return more;
  }

  void Finish(uint64_t ticket) override {
    Track& track = tracks_.at(static_cast<int32_t>(ticket >> kSequenceBits));
    const uint64_t before = track.finished.done();
    track.finished.Finish(ticket & ((uint64_t{1} << kSequenceBits) - 1));
    for (uint64_t i = before; i < track.finished.done(); ++i) {
      track.next_offset = track.offsets.front() + 1;
      track.offsets.pop_front();
    }
  }

  void Describe(ReplayPosition& position) const override {
    position.source = range_.words;
    position.source_bytes = 0;
    std::map<int32_t, int64_t> offsets;
    for (const auto& [partition, track] : tracks_) offsets[partition] = track.next_offset;
    position.offsets = FormatOffsets(offsets);
  }

  std::string Where(const ReplayEntry&) const override {
    return nlohmann::ordered_json{
        {"topic", range_.topic}, {"partition", current_partition_}, {"offset", current_offset_}}
        .dump();
  }

  uint64_t Position() const override { return total_ - std::min(total_, reader_->records_remaining()); }
  uint64_t Total() const override { return total_; }
  std::string_view Unit() const override { return "records"; }

 private:
  struct Track {
    ContiguousProgress finished{0};
    std::deque<int64_t> offsets;  // of what is not finished without a gap
    int64_t next_offset = 0;
  };
  TopicRange range_;
  std::unique_ptr<TopicReader> reader_;
  std::map<int32_t, Track> tracks_;
  uint64_t total_ = 0;
  int32_t current_partition_ = 0;
  int64_t current_offset_ = 0;
};

}  // namespace

Result<std::unique_ptr<ReplaySource>> MakeTopicSource(const TopicRange& range, const ReplayPosition* resume) {
  std::map<int32_t, int64_t> offsets;
  if (resume != nullptr) {
    auto parsed = ParseOffsets(resume->offsets);
    if (!parsed) return Fail(parsed.error());
    offsets = std::move(*parsed);
  }
  auto reader = TopicReader::Open({.brokers = range.brokers,
                                   .client = range.client,
                                   .topic = range.topic,
                                   .from_time = range.since,
                                   .to_time = range.until,
                                   .only_partition = {},
                                   .from_offsets = offsets},
                                  std::chrono::seconds(15));
  if (!reader) return Fail(reader.error());
  return std::make_unique<TopicSource>(range, std::move(*reader));
}

std::string FormatOffsets(const std::map<int32_t, int64_t>& offsets) {
  std::string text;
  for (const auto& [partition, offset] : offsets)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", partition, offset);
  return text;
}

Result<std::map<int32_t, int64_t>> ParseOffsets(std::string_view text) {
  const auto malformed =
      Fail(Code::kMalformed, fmt::format("offsets: {}: expected PARTITION:OFFSET,...", text));
  std::map<int32_t, int64_t> offsets;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int32_t partition = 0;
    int64_t offset = 0;
    const auto first = std::from_chars(at, end, partition);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') return malformed;
    const auto second = std::from_chars(first.ptr + 1, end, offset);
    if (second.ec != std::errc{} || partition < 0 || offset < 0) return malformed;
    if (!offsets.emplace(partition, offset).second) return malformed;
    at = second.ptr;
    if (at == end) break;
    if (*at != ',' || at + 1 == end) return malformed;
    ++at;
  }
  return offsets;
}

}  // namespace seen
