#include "topics/topic_needs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

#include "base/text.h"
#include "filter/indexed_cuckoo.h"
#include "filter/payload.h"
#include "kafka/state_topic.h"
#include "model/day.h"
#include "model/segment_kind.h"
#include "model/update.h"
#include "similar/port/options.h"

namespace seen {
namespace {

using Settings = std::map<std::string, std::string>;
using enum TopicNeed::Policy;

constexpr int32_t kInputPartitions = 16;  // of the command that creates a missing input topic
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr size_t kSimilarNames = 3;
constexpr const char* kRecordBytes = "max.message.bytes";
constexpr int64_t kBesides = 4'096;  // header, key, batch

// Segments are rolled often, so that compaction keeps up with one record a second.
Settings OfBeats() {
  return {{"cleanup.policy", "compact"}, {"segment.ms", "600000"}, {"segment.bytes", "16777216"}};
}

/// The limit that a setting states. kNoLimit: -1, or the broker doesn't say.
int64_t LimitOf(const TopicDescription& found, const std::string& name) {
  const auto value = found.config.find(name);
  if (value == found.config.end()) return kNoLimit;
  const long long limit = std::strtoll(value->second.c_str(), nullptr, 10);
  return limit < 0 ? kNoLimit : limit;
}

std::string CreateCommand(const TopicSpec& spec, const std::string& brokers) {
  std::string command =
      fmt::format("kafka-topics.sh --bootstrap-server {} --create --topic {} --partitions {}", brokers,
                  spec.name, spec.partitions);
  for (const auto& [name, value] : spec.config) command += fmt::format(" --config {}={}", name, value);
  return command;
}

/// The problem of a setting, with the command that mends it. `follows`: a clause.
TopicProblem WrongSetting(const TopicNeed& need, const TopicDescription& found, const std::string& name,
                          const std::string& wanted, const std::string& follows, const std::string& brokers) {
  const bool is_list = wanted.find(',') != std::string::npos;
  return {need.spec.name, name,
          fmt::format("topic \"{0}\" ({1}) has {2}={3}: {4}. Remedy: kafka-configs.sh --bootstrap-server {5} "
                      "--alter --entity-type topics --entity-name {0} --add-config {2}={6}",
                      need.spec.name, need.key, name, found.config.at(name), follows, brokers,
                      is_list ? "[" + wanted + "]" : wanted)};
}

void AddPolicy(const TopicNeed& need, const TopicDescription& found, const std::string& brokers,
               std::vector<TopicProblem>& problems) {
  const auto at = found.config.find("cleanup.policy");
  if (at == found.config.end() || need.policy == kAny) return;
  const bool compacts = at->second.find("compact") != std::string::npos;
  const bool deletes = at->second.find("delete") != std::string::npos;
  const bool wrong = need.policy == kDelete ? compacts : !compacts || (need.policy == kCompact && deletes);
  if (!wrong) return;
  const std::string wanted = need.policy == kDelete    ? "delete"
                             : need.policy == kCompact ? "compact"
                                                       : need.spec.config.at("cleanup.policy");
  const std::string follows =
      need.policy == kDelete
          ? fmt::format("Kafka keeps only the newest {} of each key, and others are lost", need.content)
          : fmt::format("Kafka deletes old {}, also those that are the newest of their key", need.content);
  problems.push_back(WrongSetting(need, found, "cleanup.policy", wanted, follows, brokers));
}

void AddRetention(const TopicNeed& need, const TopicDescription& found, const std::string& brokers,
                  std::vector<TopicProblem>& problems) {
  // Retention doesn't delete from a topic that is only compacted.
  const auto policy = found.config.find("cleanup.policy");
  if (policy != found.config.end() && policy->second.find("delete") == std::string::npos) return;
  if (const int64_t bytes = LimitOf(found, "retention.bytes"); need.is_whole && bytes != kNoLimit) {
    problems.push_back(
        WrongSetting(need, found, "retention.bytes", "-1",
                     fmt::format("a partition keeps {} bytes, and Kafka deletes older {}, whatever their age",
                                 bytes, need.content),
                     brokers));
  }
  const int64_t kept_ms = LimitOf(found, "retention.ms");
  if (need.kept_ms == 0 || kept_ms == kNoLimit || (need.kept_ms > 0 && kept_ms >= need.kept_ms)) return;
  problems.push_back(WrongSetting(need, found, "retention.ms", std::to_string(need.kept_ms),
                                  fmt::format("Kafka deletes {} after {:.1f} days", need.content,
                                              static_cast<double>(kept_ms) / kMsPerDay),
                                  brokers));
}

void AddTimestamps(const TopicNeed& need, const TopicDescription& found, const std::string& brokers,
                   std::vector<TopicProblem>& problems) {
  if (need.late_ms == 0) return;
  if (const auto type = found.config.find("message.timestamp.type");
      type != found.config.end() && type->second != "CreateTime") {
    problems.push_back(WrongSetting(need, found, type->first, "CreateTime",
                                    fmt::format("{} get other timestamps than their sources", need.content),
                                    brokers));
  }
  for (const char* const name : {"message.timestamp.before.max.ms", "message.timestamp.difference.max.ms"}) {
    if (LimitOf(found, name) >= need.late_ms) continue;
    problems.push_back(WrongSetting(need, found, name, std::to_string(kNoLimit),
                                    fmt::format("the topic refuses older {}", need.content), brokers));
    return;  // one setting, under its new and its old name
  }
}

void AddRecordBytes(const TopicNeed& need, const TopicDescription& found, const std::string& brokers,
                    std::vector<TopicProblem>& problems) {
  if (LimitOf(found, kRecordBytes) >= need.record_bytes) return;
  problems.push_back(WrongSetting(
      need, found, kRecordBytes, std::to_string(need.record_bytes),
      fmt::format("the topic refuses the largest {}, {}", need.content, need.else_refuses), brokers));
}

/// With updates, one snapshot that its topic refuses holds up what readers may rely on. So the topic takes
/// that of a user with `items_max` items. 0: the topic's own limit will do.
int64_t LargestSnapshot(const FilterConfig& filter) {
  constexpr int64_t kDefaultOfBrokers = 1'048'588;
  const SnapshotShape shape = filter.snapshot->policy.shape();
  const double rate = shape.false_positive_rate;
  const SnapshotFormat format =
      shape.format == SnapshotFormat::kAuto ? FormatFor(filter.items_max, rate) : shape.format;
  size_t bytes = NeedsDays(format) ? IndexedCuckooFilter::PayloadBytes(
                                         filter.items_max, static_cast<size_t>(filter.window_days) + 1, rate)
                                   : PayloadBytes(format, filter.items_max, rate);
  if (shape.power_of_two) bytes = std::bit_ceil(bytes);
  if (filter.similar != Similar::kOff) {
    const size_t similar = TimesSimilar(filter.items_max);
    bytes += PayloadBytes(SimilarFormatFor(shape, similar), similar, rate);
  }
  const auto with_the_rest = static_cast<int64_t>(bytes) + kBesides;
  return filter.snapshot->updates && with_the_rest > kDefaultOfBrokers ? with_the_rest : 0;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// A reader begins at most two rounds of the refresh ago; as much again is for its own pauses.
int64_t KeptUpdatesMs(const UpdatesConfig& updates) {
  return 4 * std::chrono::milliseconds(updates.refresh).count();
}

TopicSpec UpdatesTopicSpec(const UpdatesConfig& updates, int32_t partitions) {
  const int64_t kept_ms = std::max<int64_t>(6 * 3'600'000, KeptUpdatesMs(updates));
  return {
      updates.topic,
      partitions,
      {{"cleanup.policy", "delete"}, {"retention.ms", std::to_string(kept_ms)}, {kRecordBytes, "1048588"}}};
}

}  // namespace

std::vector<TopicNeed> TopicNeeds(const Config& config, int32_t partitions) {
  const int64_t window_ms = int64_t{LongestWindowDays(config) + 1} * kMsPerDay;
  const std::string kept = std::to_string(window_ms);
  std::vector<TopicNeed> needs;
  if (config.input.source_topic) {
    needs.push_back({.spec = {*config.input.source_topic, kInputPartitions, {{"retention.ms", kept}}},
                     .key = "input.topic",
                     .content = "events",
                     .policy = kDelete,
                     .is_created = false});
  }
  needs.push_back(
      {.spec = {config.input.topic, partitions > 0 ? partitions : kInputPartitions, {{"retention.ms", kept}}},
       .key = config.input.source_topic ? "input.keyed_topic" : "input.topic",
       .content = "events",
       .policy = kDelete,
       .is_created = false,
       .is_whole = true,
       .late_ms = config.input.source_topic ? window_ms : 0});
  needs.push_back({.spec = {config.input.dead_letter_topic, partitions, {}, AclOperation::kWrite},
                   .key = "input.dead_letter_topic",
                   .content = "letters",
                   .policy = kDelete});
  for (const FilterConfig& filter : config.filters) {
    if (!filter.snapshot) continue;
    const int64_t bytes = LargestSnapshot(filter);
    needs.push_back({.spec = {filter.snapshot->topic, partitions, {{"cleanup.policy", "compact"}}},
                     .key = "filters[].snapshot.topic",
                     .content = "snapshots",
                     .policy = kCompact,
                     .counts = true,
                     .record_bytes = bytes,
                     .else_refuses = "of users with items_max items, and \"published_to\" stands still for "
                                     "all users"});
    if (bytes > 0) needs.back().spec.config[kRecordBytes] = std::to_string(bytes);
  }
  if (WritesWatermarks(config)) {
    needs.push_back({.spec = {config.watermarks->topic, 1, OfBeats()},
                     .key = "watermarks.topic",
                     .content = "watermarks",
                     .policy = kCompacts,
                     .counts = true});
  }
  if (config.updates) {
    needs.push_back({.spec = UpdatesTopicSpec(*config.updates, partitions),
                     .key = "updates.topic",
                     .content = "updates",
                     .policy = kDelete,
                     .counts = true,
                     .is_whole = true,
                     .kept_ms = KeptUpdatesMs(*config.updates),
                     .record_bytes = kUpdateBytesMax + kBesides,
                     .else_refuses = "of events with many items, and readers wait for the refresh"});
  }
  if (config.replica_of && !config.cluster.topic.empty()) {
    needs.push_back({.spec = {config.cluster.topic, 1, OfBeats()},
                     .key = "cluster.topic",
                     .content = "promotions",
                     .policy = kCompact,
                     .counts = true});
  }
  if (config.items) {
    needs.push_back({.spec = {config.items->topic, 1, {}},
                     .key = "items.topic",
                     .content = "items",
                     .is_created = false});
    // Kafka deletes a record some time after its item has left the window. The daemons' copies use the same
    // time.
    const int64_t kept_ms = KeptDays(config.items->window_days) * kMsPerDay;
    needs.push_back(
        {.spec = {config.items->groups_topic,
                  partitions,
                  {{"cleanup.policy", "compact,delete"}, {"retention.ms", std::to_string(kept_ms)}}},
         .key = "items.groups_topic",
         .content = "groups",
         .policy = kCompacts,
         .kept_ms = kept_ms});
  }
  if (config.unexposed) {
    needs.push_back({.spec = {config.unexposed->topic, partitions, {}, AclOperation::kWrite},
                     .key = "unexposed.topic",
                     .content = "unexposed items",
                     .policy = kDelete});
  }
  if (config.state) {
    needs.push_back({.spec = StateTopicSpec(config.state->topic, partitions),
                     .key = "state.topic",
                     .content = "state",
                     .policy = kDelete,
                     .is_whole = true,
                     .kept_ms = -1});
  }
  return needs;
}

std::vector<TopicProblem> ProblemsOf(const TopicNeed& need, const Result<TopicDescription>& found,
                                     const std::string& brokers) {
  std::vector<TopicProblem> problems;
  const std::string& topic = need.spec.name;
  if (!found) {
    if (found.error().code == Code::kNotFound)
      problems.push_back({topic, "missing", MissingTopic(need, {}, brokers)});
    return problems;
  }
  if (need.counts && found->partitions < need.spec.partitions)
    problems.push_back({topic, "partitions", TooFewPartitions(need, found->partitions, brokers)});
  if (need.counts && found->partitions > need.spec.partitions) {
    problems.push_back(
        {topic, "partitions",
         fmt::format("topic \"{}\" ({}) has {} partitions, and the daemon writes {}: readers must map keys "
                     "to the first {}. Remedy: name a topic that doesn't exist yet (the daemon creates it), "
                     "or create this topic again with {} partitions",
                     topic, need.key, found->partitions, need.spec.partitions, need.spec.partitions,
                     need.spec.partitions)});
  }
  AddPolicy(need, *found, brokers, problems);
  AddRetention(need, *found, brokers, problems);
  AddTimestamps(need, *found, brokers, problems);
  AddRecordBytes(need, *found, brokers, problems);
  return problems;
}

std::optional<int64_t> RetentionMs(const TopicDescription& found) {
  const int64_t kept_ms = LimitOf(found, "retention.ms");
  return kept_ms == kNoLimit ? std::nullopt : std::optional(kept_ms);
}

std::vector<std::string> SimilarNames(std::string_view name, std::span<const std::string> names) {
  const std::string wanted = LowerCase(name);
  std::vector<std::pair<size_t, std::string>> found;
  for (const std::string& other : names) {
    if (other.starts_with("__")) continue;  // Kafka's own
    const std::string candidate = LowerCase(other);
    const size_t distance = EditDistance(wanted, candidate);
    const bool is_part =
        std::min(wanted.size(), candidate.size()) > 3 &&
        (wanted.find(candidate) != std::string::npos || candidate.find(wanted) != std::string::npos);
    if (is_part || distance <= std::max<size_t>(2, wanted.size() / 4)) found.emplace_back(distance, other);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > kSimilarNames) found.resize(kSimilarNames);
  std::vector<std::string> similar;
  similar.reserve(found.size());
  for (auto& [distance, other] : found) similar.push_back(std::move(other));
  return similar;
}

std::string TooFewPartitions(const TopicNeed& need, int32_t partitions, const std::string& brokers) {
  return fmt::format(
      "topic \"{0}\" ({1}) has {2} partitions, and the daemon writes {3}: {4} of the others are "
      "lost. Remedy: kafka-topics.sh --bootstrap-server {5} --alter --topic {0} --partitions {3}",
      need.spec.name, need.key, partitions, need.spec.partitions, need.content, brokers);
}

std::string MissingTopic(const TopicNeed& need, std::span<const std::string> names,
                         const std::string& brokers) {
  const std::vector<std::string> similar = SimilarNames(need.spec.name, names);
  std::string text = fmt::format("there is no topic \"{}\" ({})", need.spec.name, need.key);
  if (!similar.empty())
    text += fmt::format(". The cluster has similar names: \"{}\"", fmt::join(similar, "\", \""));
  text += fmt::format(". Remedy: {}create it: {}",
                      similar.empty() ? "" : fmt::format("correct {}, or ", need.key),
                      CreateCommand(need.spec, brokers));
  return text;
}

}  // namespace seen
