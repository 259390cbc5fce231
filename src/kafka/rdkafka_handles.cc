#include "kafka/rdkafka_handles.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/threads.h"

namespace seen::kafka {
namespace {

constexpr int kTelemetryVersion = 0x020500ff;  // enable.metrics.push came with librdkafka 2.5

ClientSettings MakeRoomDefaults() {
  ClientSettings defaults = {
      {"client.id", "seen"},
      {"log.connection.close", "false"},
      {"socket.keepalive.enable", "true"},
      {"socket.nagle.disable", "true"},
      // Also bounds blocking questions (watermarks, committed offsets): they wait this long for a broker that
      // has gone silent.
      {"socket.timeout.ms", "10000"},
      {"reconnect.backoff.ms", "50"},
      {"reconnect.backoff.max.ms", "2000"},
      {"topic.metadata.refresh.interval.ms", "10000"},
  };
  // Otherwise each client waits for up to a second before it ends, to push its last metrics to a broker.
  if (rd_kafka_version() >= kTelemetryVersion) defaults["enable.metrics.push"] = "false";
  return defaults;
}

const ClientSettings& RoomDefaults() {
  static const ClientSettings defaults = MakeRoomDefaults();
  return defaults;
}

bool UsesTokens(const rd_kafka_conf_t* conf) {
  std::array<char, 64> mechanism{};
  size_t size = mechanism.size();
  return rd_kafka_conf_get(conf, "sasl.mechanism", mechanism.data(), &size) == RD_KAFKA_CONF_OK &&
         std::string_view(mechanism.data()) == "OAUTHBEARER";
}

// A broker's thread makes a buffer of some MiB for each fetch.
rd_kafka_resp_err_t OnThreadStart(rd_kafka_t*, rd_kafka_thread_type_t type, const char*, void*) {
  if (type == RD_KAFKA_THREAD_BROKER) KeepFreedBuffers();
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t OnNewConsumer(rd_kafka_t* client, const rd_kafka_conf_t*, void*, char*, size_t) {
  return rd_kafka_interceptor_add_on_thread_start(client, "seen", OnThreadStart, nullptr);
}

using ConfigResourceHandle =
    std::unique_ptr<rd_kafka_ConfigResource_t, Destroyer<rd_kafka_ConfigResource_destroy>>;

// Timestamps of ListOffsets in the Kafka protocol.
constexpr int64_t kLatest = -1;
constexpr int64_t kEarliest = -2;

using SteadyClock = std::chrono::steady_clock;

std::chrono::milliseconds LeftUntil(SteadyClock::time_point until) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(until - SteadyClock::now());
}

struct OffsetsQuestion {
  int64_t time;
  const std::string& topic;
  std::span<const int32_t> partitions;
  const Access& access;
};

Result<std::map<int32_t, int64_t>> AskOffsets(rd_kafka_t* client, const OffsetsQuestion& asked,
                                              std::chrono::milliseconds timeout) {
  const std::string what = (asked.time == kLatest     ? "end of "
                            : asked.time == kEarliest ? "start of "
                                                      : "offset by time of ") +
                           asked.topic;
  const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(asked.partitions.size())));
  for (const int32_t partition : asked.partitions) {
    rd_kafka_topic_partition_list_add(list.get(), asked.topic.c_str(), partition)->offset = asked.time;
  }
  if (const auto error = rd_kafka_offsets_for_times(client, list.get(), ToTimeout(timeout));
      error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    const bool is_one = asked.partitions.size() == 1;
    const auto which = is_one ? "/" + std::to_string(asked.partitions.front()) : std::string();
    return FailWith(error, what + which, asked.access);
  }
  std::map<int32_t, int64_t> offsets;
  for (int i = 0; i < list->cnt; ++i) {
    const auto& entry = list->elems[i];
    const std::string one = what + "/" + std::to_string(entry.partition);
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR) return FailWith(entry.err, one, asked.access);
    if (entry.offset < 0 && asked.time < 0)
      return Fail(Code::kUnavailable, one + ": the brokers report no offset");
    if (entry.offset >= 0) offsets[entry.partition] = entry.offset;
  }
  return offsets;
}

// Before librdkafka 2.10, a client that never asked for the topic's metadata goes on asking the leader that
// it once knew, although that broker says that it isn't the leader.
Result<std::map<int32_t, int64_t>> OffsetsAt(rd_kafka_t* client, const OffsetsQuestion& asked,
                                             std::chrono::milliseconds timeout) {
  const auto until = SteadyClock::now() + timeout;
  auto offsets = AskOffsets(client, asked, timeout);
  const bool may_be_led_elsewhere = !offsets && offsets.error().code == Code::kUnavailable;
  if (!may_be_led_elsewhere || LeftUntil(until).count() <= 0) return offsets;
  if (!TopicMetadata(client, asked.topic, LeftUntil(until))) return offsets;
  return AskOffsets(client, asked, LeftUntil(until));
}

}  // namespace

Result<ConfHandle> MakeConf(const std::string& brokers, const ClientSettings& role_defaults,
                            const ClientSettings& client, const ClientSettings& imposed) {
  ClientSettings merged = RoomDefaults();
  for (const auto* layer : {&role_defaults, &client, &imposed}) {
    for (const auto& [property, value] : *layer) merged[property] = value;
  }
  merged["bootstrap.servers"] = brokers;
  ConfHandle conf(rd_kafka_conf_new());
  for (const auto& [property, value] : merged) {
    if (IsSecretSetting(property)) HideSecret(value);
    std::array<char, 512> reason{};
    if (rd_kafka_conf_set(conf.get(), property.c_str(), value.c_str(), reason.data(), reason.size()) !=
        RD_KAFKA_CONF_OK) {
      return Fail(Code::kInvalidArgument, property + ": " + WithoutSecrets(reason.data()));
    }
  }
  rd_kafka_conf_set_log_cb(conf.get(), LogClientLine);
  return conf;
}

Result<ClientHandle> MakeClient(rd_kafka_type_t type, ConfHandle conf) {
  const bool has_tokens = UsesTokens(conf.get());
  // Otherwise tokens are renewed only while somebody polls, and not every client is polled all the time.
  if (has_tokens) rd_kafka_conf_enable_sasl_queue(conf.get(), 1);
  if (type == RD_KAFKA_CONSUMER) {
    rd_kafka_conf_interceptor_add_on_new(conf.get(), "seen", OnNewConsumer, nullptr);
  }
  std::array<char, 512> reason{};
  rd_kafka_t* const client = rd_kafka_new(type, conf.get(), reason.data(), reason.size());
  if (client == nullptr)
    return Fail(Code::kInvalidArgument, "kafka client: " + WithoutSecrets(reason.data()));
  (void)conf.release();  // rd_kafka_new took it
  ClientHandle made(client);
  if (!has_tokens) return made;
  const ErrorHandle unused(
      rd_kafka_sasl_background_callbacks_enable(client));  // one that makes tokens itself
  return made;
}

Result<ClientHandle> MakeReader(const std::string& brokers, ClientSettings role_defaults,
                                const ClientSettings& client, ClientSettings imposed) {
  role_defaults.emplace("isolation.level", "read_committed");
  imposed.insert({{"group.id", "seen-reader"},  // assign() requires one
                  {"enable.partition.eof", "true"},
                  {"enable.auto.commit", "false"},
                  {"enable.auto.offset.store", "false"},
                  {"auto.offset.reset", "error"}});
  auto conf = MakeConf(brokers, role_defaults, client, imposed);
  if (!conf) return Fail(std::move(conf.error()));
  auto reader = MakeClient(RD_KAFKA_CONSUMER, std::move(*conf));
  if (reader) rd_kafka_poll_set_consumer(reader->get());
  return reader;
}

Code CodeOf(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
      return Code::kNotFound;
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
      return Code::kInvalidArgument;
    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
      return Code::kRefused;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return Code::kDenied;
    default:
      return Code::kUnavailable;
  }
}

bool IsRefusal(rd_kafka_resp_err_t error) {
  return CodeOf(error) == Code::kNotFound || error == RD_KAFKA_RESP_ERR_INVALID_RECORD ||
         error == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP || error == RD_KAFKA_RESP_ERR_POLICY_VIOLATION;
}

tl::unexpected<Error> FailWith(rd_kafka_resp_err_t error, std::string_view what) {
  const Code code = CodeOf(error);
  return Fail(code, std::string(what) + ": " + rd_kafka_err2str(error) +
                        (code == Code::kUnavailable ? LastSecurityTrouble() : std::string()));
}

tl::unexpected<Error> FailWith(rd_kafka_resp_err_t error, std::string_view what, const Access& access) {
  if (!IsDenied(error)) return FailWith(error, what);
  return Fail(Code::kDenied, std::string(what) + ": " + NoteDenied(error, access));
}

Result<MetadataHandle> TopicMetadata(rd_kafka_t* client, const std::string& topic,
                                     std::chrono::milliseconds timeout, AclOperation wanted_for) {
  const Access access{.operation = wanted_for, .topic = topic, .only_describes = true};
  const std::string what = "topic \"" + topic + "\"";
  const TopicHandle handle(rd_kafka_topic_new(client, topic.c_str(), nullptr));
  if (!handle) return FailWith(rd_kafka_last_error(), what);
  const rd_kafka_metadata_t* raw = nullptr;
  const auto error = rd_kafka_metadata(client, 0, handle.get(), &raw, ToTimeout(timeout));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return FailWith(error, what, access);
  MetadataHandle metadata(raw);
  if (raw->topic_cnt != 1) return Fail(Code::kUnavailable, what + ": no metadata");
  if (raw->topics[0].err != RD_KAFKA_RESP_ERR_NO_ERROR) return FailWith(raw->topics[0].err, what, access);
  NoteAllowed(access);
  if (raw->topics[0].partition_cnt <= 0) return Fail(Code::kUnavailable, what + ": no partitions yet");
  return metadata;
}

Result<std::map<int32_t, int64_t>> LogEnds(rd_kafka_t* client, const std::string& topic,
                                           std::span<const int32_t> partitions,
                                           std::chrono::milliseconds timeout) {
  const Access access{.topic = topic, .only_describes = true};
  return OffsetsAt(client, {kLatest, topic, partitions, access}, timeout);
}

Result<std::map<int32_t, Watermarks>> QueryEnds(rd_kafka_t* client, const std::string& topic,
                                                std::span<const int32_t> partitions,
                                                std::chrono::milliseconds timeout) {
  const Access access{.topic = topic, .only_describes = true};
  if (partitions.empty()) return std::map<int32_t, Watermarks>();
  const auto until = SteadyClock::now() + timeout;
  auto lows = OffsetsAt(client, {kEarliest, topic, partitions, access}, timeout);
  if (!lows) return Fail(std::move(lows.error()));
  auto highs = OffsetsAt(client, {kLatest, topic, partitions, access}, LeftUntil(until));
  if (!highs) return Fail(std::move(highs.error()));
  std::map<int32_t, Watermarks> ends;
  for (const int32_t partition : partitions) ends[partition] = {lows->at(partition), highs->at(partition)};
  return ends;
}

Result<Watermarks> QueryEnds(rd_kafka_t* client, const std::string& topic, int32_t partition,
                             std::chrono::milliseconds timeout) {
  const auto ends = QueryEnds(client, topic, {&partition, 1}, timeout);
  return ends ? Result<Watermarks>(ends->at(partition)) : Fail(ends.error());
}

Watermarks KnownEnds(rd_kafka_t* client, const std::string& topic, int32_t partition) {
  Watermarks ends;
  if (rd_kafka_get_watermark_offsets(client, topic.c_str(), partition, &ends.low, &ends.high) !=
      RD_KAFKA_RESP_ERR_NO_ERROR) {
    return {};
  }
  return {std::max<int64_t>(ends.low, -1), std::max<int64_t>(ends.high, -1)};
}

Result<std::map<int32_t, int64_t>> OffsetsForTime(rd_kafka_t* client, const std::string& topic,
                                                  std::span<const int32_t> partitions, TimeMs time,
                                                  std::chrono::milliseconds timeout) {
  const Access access{.topic = topic, .only_describes = true};
  return OffsetsAt(client, {std::max<int64_t>(time.value, 0), topic, partitions, access}, timeout);
}

Result<std::map<std::string, std::string>> DescribeTopicConfigs(rd_kafka_t* client, const std::string& topic,
                                                                std::chrono::milliseconds timeout,
                                                                AclOperation wanted_for) {
  const Access access{.operation = AclOperation::kDescribeConfigs, .topic = topic};
  const std::string what = "configuration of topic \"" + topic + "\"";
  const auto metadata = TopicMetadata(client, topic, timeout, wanted_for);
  if (!metadata) return Fail(metadata.error());
  // Any broker knows the value. If no broker is named, librdkafka waits for a controller, and the embedded
  // broker has none.
  const int32_t leader = (*metadata)->topics[0].partitions[0].leader;
  const ConfigResourceHandle resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  const auto event = AskAdmin(client, {RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, what, timeout, leader},
                              rd_kafka_DescribeConfigs, resource.get());
  if (!event) return Fail(event.error());
  if (const auto error = rd_kafka_event_error(event->get()); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    // Some brokers can't be asked, among them the embedded one.
    if (error == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE) return std::map<std::string, std::string>();
    return FailWith(error, what, access);
  }
  size_t count = 0;
  const auto* result = rd_kafka_event_DescribeConfigs_result(event->get());
  const auto** resources = rd_kafka_DescribeConfigs_result_resources(result, &count);
  if (count != 1) return Fail(Code::kUnavailable, what + ": no answer");
  if (const auto error = rd_kafka_ConfigResource_error(resources[0]); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return FailWith(error, what, access);
  }
  NoteAllowed(access);
  std::map<std::string, std::string> values;
  const auto** entries = rd_kafka_ConfigResource_configs(resources[0], &count);
  for (size_t i = 0; i < count; ++i) {
    const char* const value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value != nullptr) values[rd_kafka_ConfigEntry_name(entries[i])] = value;
  }
  return values;
}

Result<std::optional<std::string>> DescribeTopicConfig(rd_kafka_t* client, const std::string& topic,
                                                       const std::string& name,
                                                       std::chrono::milliseconds timeout,
                                                       AclOperation wanted_for) {
  auto values = DescribeTopicConfigs(client, topic, timeout, wanted_for);
  if (!values) return Fail(std::move(values.error()));
  const auto found = values->find(name);
  return found == values->end() ? std::nullopt : std::optional(found->second);
}

Result<bool> IsCompacted(rd_kafka_t* client, const std::string& topic, std::chrono::milliseconds timeout) {
  const auto policy = DescribeTopicConfig(client, topic, "cleanup.policy", timeout);
  if (!policy && policy.error().code == Code::kDenied) return false;  // MissingAcls names the right
  if (!policy) return Fail(policy.error());
  return *policy && (*policy)->find("compact") != std::string::npos;
}

}  // namespace seen::kafka
