#include "topics/published_topics.h"

#include "kafka/reader.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kQuestion{5000};
constexpr milliseconds kPoll{200};
}  // namespace

Status PublishedTopics::Read(FilterIndex filter, int32_t partition, const OnRecords& on_records) {
  TopicReader::Options options;
  options.brokers = config_.kafka.brokers;
  options.client = config_.kafka.client;
  options.topic = config_.filters[filter].snapshot->topic;
  options.only_partition = partition;
  auto reader = TopicReader::Open(options, kQuestion);
  if (!reader) return Fail(std::move(reader.error()));
  for (bool more = true; more;) {
    Status taken;
    bool some = false;
    const auto polled = (*reader)->Poll(kPoll, [&](int32_t, std::span<const Record> records) {
      some = true;
      if (taken) taken = on_records(records);
    });
    if (!polled) return Fail(polled.error());
    if (!some) taken = on_records({});  // it may want to stop
    if (!taken) return taken;
    more = *polled;
  }
  return {};
}

}  // namespace seen
