#include "tools/replay/target_topic.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <thread>

#include "kafka/admin.h"
#include "kafka/topic_reader.h"
#include "tools/read_files.h"

namespace seen {

namespace {

constexpr std::chrono::seconds kAskTopic(15);
constexpr int64_t kRecordsLookedAt = 100;  // per partition

Result<std::optional<int64_t>> TopicNumber(const Admin& admin, const std::string& topic,
                                           const std::string& name) {
  const auto text = admin.TopicConfig(topic, name, kAskTopic);
  // A broker that hides its settings must not prevent the replay.
  if (!text && text.error().code != Code::kUnavailable) return std::optional<int64_t>();
  if (!text) return Fail(text.error());
  if (!*text) return std::optional<int64_t>();
  int64_t value = 0;
  const auto read = std::from_chars((*text)->data(), (*text)->data() + (*text)->size(), value);
  const bool is_limit = read.ec == std::errc() && value >= 0 && value != INT64_MAX;
  return is_limit ? std::optional(value) : std::nullopt;
}

Status LookAtKeys(const std::string& brokers, const ClientSettings& client, Partitioner partitioner,
                  TargetTopic& target) {
  const auto all = TopicReader::Open({.brokers = brokers, .client = client, .topic = target.name}, kAskTopic);
  if (!all) return Fail(all.error());
  std::map<int32_t, int64_t> from;
  for (const auto& range : (*all)->ranges())
    from[range.partition] = std::max(range.from, range.to - kRecordsLookedAt);
  const auto last = TopicReader::Open(
      {.brokers = brokers, .client = client, .topic = target.name, .from_offsets = from}, kAskTopic);
  if (!last) return Fail(last.error());
  const auto until = SystemClock().Now() + kAskTopic;
  while (SystemClock().Now() < until) {
    const auto more = (*last)->Poll(
        std::chrono::milliseconds(200), [&](int32_t partition, std::span<const Record> records) {
          for (const Record& record : records) {
            if (record.key.empty()) continue;
            ++target.keys_looked_at;
            const auto place = PartitionOf(partitioner, record.key, target.partitions);
            target.keys_in_place += place == partition ? 1 : 0;
          }
        });
    if (!more) return Fail(more.error());
    if (!*more) break;
  }
  return {};
}

}  // namespace

std::string_view TargetTopic::WhyNotKept(TimeMs time, TimeMs now) const {
  if (after_max_ms && time.value - now.value > *after_max_ms) return "too_far_ahead";
  if (before_max_ms && now.value - time.value > *before_max_ms) return "older_than_the_topic_takes";
  if (retention_ms && now.value - time.value > *retention_ms) return "older_than_retention";
  return {};
}

bool TargetTopic::HasSpaceFor(size_t event_bytes, size_t key_bytes) const {
  constexpr size_t kHeadBytes = 256;  // the overhead of a batch of one record, with a replay's headers
  return !message_bytes_max || event_bytes + key_bytes + kHeadBytes <= *message_bytes_max;
}

namespace {

Result<TargetTopic> LookOnce(const std::string& brokers, const ClientSettings& client,
                             const std::string& topic, Partitioner partitioner) {
  const auto admin = Admin::Open(brokers, client);
  if (!admin) return Fail(admin.error());
  const auto partitions = (*admin)->PartitionCount(topic, kAskTopic);
  if (!partitions) {
    const bool is_missing = partitions.error().code == Code::kNotFound;
    return Fail(
        partitions.error().code,
        partitions.error().message +
            (is_missing ? ". Remedy: create the topic, or name another one by --topic or input.topic" : ""));
  }
  TargetTopic target;
  target.name = topic;
  target.partitions = *partitions;
  const auto number = [&](const std::string& name, std::optional<int64_t>& into) -> Status {
    auto found = TopicNumber(**admin, topic, name);
    if (!found) return Fail(found.error());
    if (found->has_value()) into = *found;
    return {};
  };
  std::optional<int64_t> bytes;
  // Brokers before 3.6 have difference.max.ms, those from 4.0 on the other two. In between, all three apply.
  for (const auto& [name, into] : {std::pair{"retention.ms", &target.retention_ms},
                                   {"message.timestamp.difference.max.ms", &target.before_max_ms},
                                   {"message.timestamp.before.max.ms", &target.before_max_ms},
                                   {"message.timestamp.difference.max.ms", &target.after_max_ms},
                                   {"message.timestamp.after.max.ms", &target.after_max_ms},
                                   {"max.message.bytes", &bytes}}) {
    if (auto found = number(name, *into); !found) return Fail(found.error());
  }
  if (bytes) target.message_bytes_max = static_cast<uint64_t>(*bytes);
  const auto type = (*admin)->TopicConfig(topic, "message.timestamp.type", kAskTopic);
  target.stamps_itself = type && *type && **type == "LogAppendTime";
  const auto may_write = MayWrite(brokers, client, topic, kAskTopic);
  if (!may_write) return Fail(may_write.error());
  target.may_write = *may_write;
  if (auto looked = LookAtKeys(brokers, client, partitioner, target); !looked) return Fail(looked.error());
  return target;
}

}  // namespace

// A topic is unavailable for a moment after its creation, and while its leader moves.
Result<TargetTopic> LookAtTarget(const std::string& brokers, const ClientSettings& client,
                                 const std::string& topic, Partitioner partitioner) {
  const Instant until = SystemClock().Now() + kAskTopic;
  while (true) {
    auto looked = LookOnce(brokers, client, topic, partitioner);
    if (looked || looked.error().code != Code::kUnavailable || SystemClock().Now() >= until) return looked;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
}

std::vector<TargetProblem> ProblemsOf(const TargetTopic& target, Partitioner partitioner, bool by_exposure) {
  std::vector<TargetProblem> problems;
  if (target.may_write == false) {
    problems.push_back({fmt::format("topic {}: this client isn't allowed to write. {}", target.name,
                                    MissingTopicAcl(AclOperation::kWrite, target.name)),
                        true});
  }
  if (target.stamps_itself && by_exposure) {
    problems.push_back(
        {fmt::format("topic {0}: message.timestamp.type=LogAppendTime replaces the times of the exposures. "
                     "Remedy: set it to CreateTime on {0}, or give --timestamps now",
                     target.name),
         true});
  }
  if (target.keys_looked_at > 0 && target.keys_in_place * 100 < target.keys_looked_at * 99) {
    problems.push_back(
        {fmt::format("topic {}: of its last {} keys, {} are in the partition that {} gives. Remedy: give the "
                     "partitioner of the topic's other producers, by --partitioner or input.partitioner",
                     target.name, target.keys_looked_at, target.keys_in_place, PartitionerName(partitioner)),
         true});
  }
  return problems;
}

Result<ReplayTarget> ReadReplayTarget(const std::string& path, const KafkaOptions& options,
                                      uint64_t event_bytes_max, const CLI::App& app) {
  const bool own_brokers = path.empty() || app.count("--brokers") > 0;
  std::vector<std::string> overrides;
  if (event_bytes_max > 0) overrides.push_back(fmt::format("input.event_bytes_max={}", event_bytes_max));
  auto config = ReadConfig(path, own_brokers ? options.brokers : "", std::move(overrides));
  if (!config) return Fail(config.error());
  auto client = ReadClientSettings("--client", options.client, config->kafka.client);
  if (!client) return Fail(client.error());
  ReplayTarget target{.config = std::move(*config), .brokers = {}, .client = std::move(*client), .topic = {}};
  target.brokers = target.config.kafka.brokers;
  target.topic = path.empty() || app.count("--topic") > 0 ? options.topic : target.config.input.topic;
  target.partitioner = path.empty() || app.count("--partitioner") > 0 ? *ParsePartitioner(options.partitioner)
                                                                      : target.config.input.partitioner;
  return target;
}

}  // namespace seen
