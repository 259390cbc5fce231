#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "base/text.h"
#include "decode/record_events.h"
#include "kafka/topic_reader.h"
#include "tools/common_options.h"
#include "tools/reach_brokers.h"
#include "tools/replay/history_source.h"

namespace seen {
namespace {

// A ticket has a topic, a partition, and a number in the partition's sequence.
constexpr int kPartitionBits = 16;

EntryProblem ProblemOf(const TopicRange& range, const Record& record) {
  if (record.value_is_null) return {"null_value", "a null value"};
  return range.problem_of ? range.problem_of(record) : EntryProblem();
}

/// kRefused: the topic isn't the one that an earlier run read.
Status CheckSame(const TopicRange& range, const ManifestTopic& known) {
  std::map<int32_t, int64_t> offsets;
  for (const auto& [partition, anchor] : known.anchors) offsets[partition] = anchor.offset;
  if (offsets.empty()) return {};
  return CheckSameTopic({range.brokers, range.client, range.topic}, offsets,
                        [&](int32_t partition, const Record& record) {
                          return AnchorOf(record) == known.anchors.at(partition);
                        });
}

class TopicSource final : public HistorySource {
 public:
  Status Add(const TopicRange& range, const ManifestTopic* known) {
    if (known != nullptr && known->range != range.words) {
      return Fail(Code::kRefused,
                  fmt::format("--from-topic: {}: its range was \"{}\" and is now \"{}\": name another "
                              "file with --progress, or the same range",
                              range.topic, known->range, range.words));
    }
    Part part{.range = range, .reader = {}, .tracks = {}, .before = {}};
    std::map<int32_t, int64_t> from = range.from_offsets, from_or_later;
    if (known != nullptr) {
      if (Status same = CheckSame(range, *known); !same) return same;
      for (const auto& [partition, anchor] : known->anchors) part.tracks[partition].last_done = anchor;
      for (const auto& [partition, offset] : known->next_offsets) from[partition] = offset;
      for (const auto& [partition, rejected] : known->rejected) {
        if (rejected.empty()) continue;
        part.tracks[partition].again = rejected;
        part.tracks[partition].read_to = from[partition];
        from.erase(partition);
        from_or_later[partition] = rejected.front().first;
      }
      part.before = known->records;
    }
    // Records may be out of order: a record of the requested time may follow a later one. So only the end of
    // the topic ends the range.
    auto reader = TopicReader::Open({.brokers = range.brokers,
                                     .client = range.client,
                                     .topic = range.topic,
                                     .from_time = range.times.since,
                                     .from_offsets = from,
                                     .from_offsets_or_later = from_or_later,
                                     .to_offsets = range.to_offsets},
                                    std::chrono::seconds(15));
    if (!reader) return Fail(reader.error().code, "--from-topic: " + reader.error().message);
    const auto is_compacted =
        range.may_be_compacted ? Result<bool>(false) : (*reader)->IsCompacted(std::chrono::seconds(15));
    if (!is_compacted)
      return Fail(is_compacted.error().code, "--from-topic: " + is_compacted.error().message);
    if (*is_compacted) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("--from-topic: {}: the topic is compacted: it keeps only the newest event of each "
                      "key, and the others are lost. Remedy: read another source, or add --compacted to "
                      "take what is left",
                      range.topic));
    }
    part.reader = std::move(*reader);
    for (const TopicReader::Range& each : part.reader->ranges()) {
      Track& track = part.tracks[each.partition];
      track.next_offset = each.from;
      if (each.to < track.read_to) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("{}/{}: offset {} of --progress is beyond its end, {}. Remedy: name another "
                                "file with --progress",
                                range.topic, each.partition, track.read_to, each.to));
      }
      total_ += static_cast<uint64_t>(each.to - each.from);
    }
    parts_.push_back(std::move(part));
    return {};
  }

  Result<bool> Next(const Use& use) override {
    if (at_ == parts_.size()) return false;
    Part& part = parts_[at_];
    Status used;
    auto more = part.reader->Poll(std::chrono::milliseconds(200), [&](int32_t partition,
                                                                      std::span<const Record> records) {
      Track& track = part.tracks[partition];
      for (const Record& record : records) {
        if (!used) return;
        if (record.replay != nullptr) continue;  // a mark of an earlier replay is no event
        if (record.offset < track.read_to && !HasOffset(track.again, record.offset)) continue;
        const auto place = static_cast<uint64_t>(at_) << kPartitionBits | static_cast<uint64_t>(partition);
        const Anchor anchor = AnchorOf(record);
        const auto begin = [&](bool is_last) {
          track.pending.push_back({.record = anchor, .is_last = is_last});
          return place << kSequenceBits | track.outcomes.Begin();
        };
        if (!part.range.times.Has(record.timestamp) || (part.range.takes && !part.range.takes(record))) {
          Finish(begin(true), LineOutcome::kSkipped);
          continue;
        }
        partition_ = partition;
        offset_ = record.offset;
        const EntryProblem problem = ProblemOf(part.range, record);
        if (!part.range.may_hold_several || !problem.message.empty() || !SplitEvents(record.value, events_))
          events_ = {record.value};
        for (size_t i = 0; i < events_.size() && used; ++i) {
          used = use({.ticket = begin(i + 1 == events_.size()),
                      .text = events_[i],
                      .event = events_[i],
                      .problem = problem,
                      .record = part.range.keeps_headers ? &record : nullptr});
        }
      }
    });
    if (!used) return Fail(used.error());
    if (!more) return Fail(more.error());
    if (*more) return true;
    part.read_whole = true;
    part_ended_ = true;
    ++at_;
    return at_ < parts_.size();
  }

  void Finish(uint64_t ticket, LineOutcome outcome) override {
    const uint64_t place = ticket >> kSequenceBits;
    Track& track = parts_[place >> kPartitionBits].tracks.at(
        static_cast<int32_t>(place & ((uint64_t{1} << kPartitionBits) - 1)));
    const uint64_t before = track.outcomes.done();
    const uint64_t sequence = ticket & ((uint64_t{1} << kSequenceBits) - 1);
    track.outcomes.Finish(sequence, outcome);
    track.pending[sequence - before].is_rejected = outcome == LineOutcome::kRejected;
    for (uint64_t i = before; i < track.outcomes.done(); ++i) {
      const Pending& done = track.pending.front();
      const int64_t offset = done.record.offset;
      track.next_offset = offset + (done.is_last ? 1 : 0);  // a record is done with its last event
      if (offset > track.last_done.offset) track.last_done = done.record;
      if (done.is_rejected && !HasOffset(track.rejected, offset)) AddOffset(track.rejected, offset);
      track.pending.pop_front();
    }
  }

  void Describe(Manifest& manifest) const override {
    for (const Part& part : parts_) {
      ManifestTopic now{.name = part.range.topic,
                        .range = part.range.words,
                        .next_offsets = {},
                        .records = part.before,
                        .done = part.read_whole};
      for (const auto& [partition, track] : part.tracks) {
        now.next_offsets[partition] = std::max(track.next_offset, track.read_to);
        if (track.last_done.offset >= 0) now.anchors[partition] = track.last_done;
        now.records += track.outcomes.counts();
        const bool is_done = part.read_whole && track.outcomes.outstanding() == 0;
        now.done = now.done && is_done;
        now.rejected[partition] = track.RejectedNow(is_done);
      }
      now.records.rejected = 0;
      for (const auto& [partition, rejected] : now.rejected) now.records.rejected += CountOf(rejected);
      if (ManifestTopic* known = manifest.FindTopic(now.name)) {
        *known = std::move(now);
      } else {
        manifest.topics.push_back(std::move(now));
      }
    }
  }

  LinePlace Place() const override { return {static_cast<uint32_t>(at_), partition_, offset_}; }
  std::string WhereOf(const LinePlace& place) const override {
    return JsonText(OrderedJson{{"topic", parts_[place.source].range.topic},
                                {"partition", place.partition},
                                {"offset", place.number}});
  }

  std::vector<std::string> Empty() const override {
    std::vector<std::string> names;
    for (const Part& part : parts_) {
      uint64_t records = part.before.done();
      for (const auto& [partition, track] : part.tracks) records += track.outcomes.done();
      if (part.read_whole && records == 0) names.push_back(part.range.topic);
    }
    return names;
  }

  bool PartEnded() override { return std::exchange(part_ended_, false); }
  uint64_t Position() const override {
    uint64_t remaining = 0;
    for (const Part& part : parts_) remaining += part.reader->records_remaining();
    return total_ - std::min(total_, remaining);
  }
  uint64_t Total() const override { return total_; }
  std::string_view Unit() const override { return "records"; }

 private:
  struct Pending {
    Anchor record;
    bool is_last = true;  // of the record's events
    bool is_rejected = false;
  };
  struct Track {
    LineOutcomes outcomes;
    std::deque<Pending> pending;  // events that are not finished without a gap
    int64_t next_offset = 0;
    Anchor last_done;
    OffsetRanges rejected;  // by this run, below next_offset
    OffsetRanges again;     // rejected by an earlier run, which read up to read_to
    int64_t read_to = 0;

    /// `is_done`: what is left of `again` is gone.
    OffsetRanges RejectedNow(bool is_done) const {
      OffsetRanges now = rejected;
      for (const auto& [first, last] : again) {
        if (!is_done && last >= next_offset) now.emplace_back(std::max(first, next_offset), last);
      }
      return now;
    }
  };
  struct Part {
    TopicRange range;
    std::unique_ptr<TopicReader> reader;
    std::map<int32_t, Track> tracks;
    LineCounts before;  // of an earlier run
    bool read_whole = false;
  };
  std::vector<Part> parts_;
  std::vector<std::string_view> events_;  // of the record
  size_t at_ = 0;
  uint64_t total_ = 0;
  int32_t partition_ = 0;
  int64_t offset_ = 0;
  bool part_ended_ = false;
};

}  // namespace

Result<std::unique_ptr<HistorySource>> MakeTopicSource(const std::vector<TopicRange>& ranges,
                                                       const Manifest& manifest) {
  auto source = std::make_unique<TopicSource>();
  for (const TopicRange& range : ranges) {
    const auto known = std::find_if(manifest.topics.begin(), manifest.topics.end(),
                                    [&](const ManifestTopic& topic) { return topic.name == range.topic; });
    if (auto added = source->Add(range, known == manifest.topics.end() ? nullptr : &*known); !added)
      return Fail(added.error());
  }
  return source;
}

Result<std::map<int32_t, int64_t>> ParseOffsets(std::string_view text) {
  const auto malformed = [&] {
    return Fail(Code::kMalformed, fmt::format("offsets: {}: expected PARTITION:OFFSET,...", text));
  };
  std::map<int32_t, int64_t> offsets;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int32_t partition = 0;
    int64_t offset = 0;
    const auto first = std::from_chars(at, end, partition);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') return malformed();
    const auto second = std::from_chars(first.ptr + 1, end, offset);
    if (second.ec != std::errc{} || partition < 0 || offset < 0) return malformed();
    if (!offsets.emplace(partition, offset).second) return malformed();
    at = second.ptr;
    if (at == end) break;
    if (*at != ',' || at + 1 == end) return malformed();
    ++at;
  }
  return offsets;
}

}  // namespace seen
