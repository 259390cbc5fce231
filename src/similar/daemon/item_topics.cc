#include "similar/daemon/item_topics.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/log.h"
#include "model/day.h"
#include "similar/port/options.h"

namespace seen {
namespace {
constexpr std::chrono::milliseconds kAskTopic{2000};
constexpr uint64_t kKeyOverhead = 1024;

Result<TopicState> Ensure(const Admin& admin, const TopicSpec& spec) {
  auto state = admin.EnsureTopic(spec, kAskTopic);
  if (state && state->created)
    log::Info("topic created", {{"topic", spec.name}, {"partitions", state->partitions}});
  return state;
}
}  // namespace

Result<ItemTopics> EnsureItemTopics(const Config& config, const Admin& admin, bool embedded_kafka) {
  const ItemsConfig& items = *config.items;
  const auto source = admin.PartitionCount(items.topic, kAskTopic);
  if (!source) {
    if (source.error().code != Code::kNotFound) return Fail(source.error());
    return Fail(Code::kUnavailable, "there is no topic \"" + items.topic +
                                        "\" (items.topic): the producer of items must create it");
  }
  ItemTopics topics{items.topic, *source, *source};
  if (*source == 1) return topics;
  topics.ordered_topic = items.ordered_topic;
  const auto existing = admin.PartitionCount(items.ordered_topic, kAskTopic);
  if (existing) {
    topics.ordered_partitions = *existing;
    return topics;
  }
  if (existing.error().code != Code::kNotFound || embedded_kafka) return Fail(existing.error());
  // Nothing reads a record again after it has left the window, not even an index that is built again.
  TopicSpec spec{items.ordered_topic,
                 1,
                 {{"cleanup.policy", "delete"},
                  {"message.timestamp.type", "CreateTime"},
                  {"retention.ms", std::to_string(KeptDays(items.window_days) * kMsPerDay)}}};
  const auto bytes = admin.TopicConfig(items.topic, "max.message.bytes", kAskTopic);
  if (!bytes) return Fail(bytes.error());
  if (*bytes) {
    spec.config["max.message.bytes"] = std::to_string(std::min<uint64_t>(
        std::strtoull((*bytes)->c_str(), nullptr, 10) + kKeyOverhead, std::numeric_limits<int32_t>::max()));
  }
  const auto state = Ensure(admin, spec);
  if (!state) return Fail(state.error());
  topics.ordered_partitions = state->partitions;
  return topics;
}

}  // namespace seen
