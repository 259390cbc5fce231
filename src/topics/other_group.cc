#include "topics/other_group.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "kafka/topic_reader.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kAsk{2000};
constexpr milliseconds kReadMax{10'000};
// A live group writes one record a second for each partition.
constexpr milliseconds kBeatsAwaited{4000};

struct Beat {
  std::string group;
  int64_t offset = 0;
};

// The newest record of each partition, where another group wrote it. Records of older daemons name no group
// and don't count.
Result<std::map<std::string, Beat>> BeatsOfOthers(const KafkaConfig& kafka, const std::string& topic) {
  TopicReader::Options options;
  options.brokers = kafka.brokers;
  options.client = kafka.client;
  options.topic = topic;
  const auto reader = TopicReader::Open(options, kAsk);
  if (!reader) return Fail(reader.error());
  std::map<std::string, Beat> beats;
  const auto until = std::chrono::steady_clock::now() + kReadMax;
  for (bool more = true; more;) {
    const auto polled = (*reader)->Poll(milliseconds(100), [&](int32_t, std::span<const Record> records) {
      for (const Record& record : records) {
        const auto json = nlohmann::json::parse(record.value, nullptr, false);
        const auto group = json.is_object() ? json.find("group") : json.end();
        if (!json.is_object() || group == json.end() || !group->is_string()) continue;
        beats[std::string(record.key)] = {group->get<std::string>(), record.offset};
      }
    });
    if (!polled) return Fail(polled.error());
    more = *polled;
    if (more && std::chrono::steady_clock::now() > until)
      return Fail(Code::kUnavailable, "topic \"" + topic + "\" can't be read to its end in time");
  }
  std::erase_if(beats, [&](const auto& beat) { return beat.second.group == kafka.group_id; });
  return beats;
}

}  // namespace

Status RefuseOtherGroup(const KafkaConfig& kafka, const std::string& watermarks_topic,
                        const BrokerWait& wait) {
  const auto before = BeatsOfOthers(kafka, watermarks_topic);
  if (!before) return Fail(before.error());
  if (before->empty()) return {};
  log::Info("another group has written to the topic of watermarks; checking whether it still does",
            {{"topic", watermarks_topic}, {"group", before->begin()->second.group}});
  if (wait.stops_within(kBeatsAwaited)) return {};
  const auto now = BeatsOfOthers(kafka, watermarks_topic);
  if (!now) return Fail(now.error());
  for (const auto& [partition, beat] : *now) {
    const auto old = before->find(partition);
    if (old != before->end() && old->second.offset == beat.offset) continue;
    return Fail(Code::kRefused,
                "kafka.group_id: \"" + kafka.group_id + "\", but group \"" + beat.group +
                    "\" publishes now, with watermarks in topic \"" + watermarks_topic +
                    "\": both would overwrite each other's snapshots. Remedy: stop the other group, or set "
                    "filters[].snapshot.topic and watermarks.topic to topics of this group's own, or start "
                    "with --share-topics if you accept that");
  }
  return {};
}

}  // namespace seen
