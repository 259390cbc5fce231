#include "topics/published_topics.h"

#include <limits>
#include <optional>

#include "kafka/topic_reader.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kQuestion{5000};
constexpr milliseconds kPoll{200};
}  // namespace

Status PublishedTopics::Read(FilterIndex filter, int32_t partition, const OnRecords& on_records) {
  return ReadRange(filter, partition, 0, std::numeric_limits<int64_t>::max(), on_records);
}

Status PublishedTopics::ReadRange(FilterIndex filter, int32_t partition, int64_t from, int64_t to,
                                  const OnRecords& on_records) {
  TopicReader::Options options;
  options.brokers = config_.kafka.brokers;
  options.client = config_.kafka.client;
  options.topic = TopicOf(filter);
  options.only_partition = partition;
  if (from > 0) options.from_offsets[partition] = from;
  auto reader = TopicReader::Open(options, kQuestion);
  if (!reader) return Fail(std::move(reader.error()));
  int64_t read = from;
  for (bool more = true; more && read < to;) {
    Status taken;
    bool some = false;
    const auto polled = (*reader)->Poll(kPoll, [&](int32_t, std::span<const Record> records) {
      some = true;
      if (taken) taken = on_records(records);
      if (!records.empty()) read = records.back().offset + 1;
    });
    if (!polled) return Fail(polled.error());
    if (!some) taken = on_records({});  // `on_records` may want to stop
    if (!taken) return taken;
    more = *polled;
  }
  return {};
}

Result<SnapshotTopics::Recent> PublishedTopics::FindRecent(FilterIndex filter, int32_t partition,
                                                           milliseconds back) {
  const auto ends = Ends(filter, {&partition, 1});
  if (!ends) return Fail(ends.error());
  const auto end = ends->find(partition);
  if (end == ends->end()) return Fail(Code::kUnavailable, TopicOf(filter) + ": its end isn't known");
  const int64_t last = end->second - 1;
  std::optional<TimeMs> newest;
  if (last >= 0) {
    const Status read = ReadRange(filter, partition, last, end->second, [&](std::span<const Record> records) {
      if (!records.empty()) newest = records.back().timestamp;
      return Status();
    });
    if (!read) return Fail(read.error());
  }
  if (!newest) return Recent{end->second, end->second};
  TopicReader::Options options;
  options.brokers = config_.kafka.brokers;
  options.client = config_.kafka.client;
  options.topic = TopicOf(filter);
  options.only_partition = partition;
  options.from_time = TimeMs{newest->value - back.count()};
  const auto reader = TopicReader::Open(options, kQuestion);
  if (!reader) return Fail(reader.error());
  return Recent{(*reader)->ranges().front().from, end->second};
}

Result<std::map<int32_t, int64_t>> PublishedTopics::Ends(FilterIndex filter,
                                                         std::span<const int32_t> partitions) {
  return admin_.Ends(TopicOf(filter), partitions, kQuestion);
}

}  // namespace seen
