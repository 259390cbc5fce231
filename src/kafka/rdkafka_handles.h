#pragma once
// Owning handles for librdkafka's C objects, configured clients, what they log (lines without secrets and
// without repetition), and questions to brokers. Internal to this room.

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "consume/group_log.h"
#include "kafka/client_settings.h"

namespace seen::kafka {

template <auto kDestroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};

using ConfHandle = std::unique_ptr<rd_kafka_conf_t, Destroyer<rd_kafka_conf_destroy>>;
using ClientHandle = std::unique_ptr<rd_kafka_t, Destroyer<rd_kafka_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Destroyer<rd_kafka_topic_destroy>>;
using QueueHandle = std::unique_ptr<rd_kafka_queue_t, Destroyer<rd_kafka_queue_destroy>>;
using EventHandle = std::unique_ptr<rd_kafka_event_t, Destroyer<rd_kafka_event_destroy>>;
using MessageHandle = std::unique_ptr<rd_kafka_message_t, Destroyer<rd_kafka_message_destroy>>;
using HeadersHandle = std::unique_ptr<rd_kafka_headers_t, Destroyer<rd_kafka_headers_destroy>>;
using PartitionList =
    std::unique_ptr<rd_kafka_topic_partition_list_t, Destroyer<rd_kafka_topic_partition_list_destroy>>;
using ErrorHandle = std::unique_ptr<rd_kafka_error_t, Destroyer<rd_kafka_error_destroy>>;
struct MetadataDestroyer {
  void operator()(const rd_kafka_metadata_t* metadata) const { rd_kafka_metadata_destroy(metadata); }
};
using MetadataHandle = std::unique_ptr<const rd_kafka_metadata_t, MetadataDestroyer>;

/// What a request needs: an operation on a topic. If `group` is set, a request to the group needs kRead on
/// it, or kDescribe if `operation` is kDescribe.
struct Access {
  AclOperation operation = AclOperation::kRead;
  std::string_view topic = {};
  std::string_view group = {};  // empty: no group is asked
  bool only_describes = false;  // asks whether the topic exists; `operation` is the later use
};

inline Access WriteTo(std::string_view topic) { return {.operation = AclOperation::kWrite, .topic = topic}; }

bool IsDenied(rd_kafka_resp_err_t error);

/// "Kafka denies Read on topic "x". Remedy: add the ACL --operation Read --topic x (docs/…)".
/// IsDenied(`error`) must hold.
std::string MissingAcl(rd_kafka_resp_err_t error, const Access& access);

/// As MissingAcl. Also logs the text, with repetition held back, and keeps it for MissingAcls.
std::string NoteDenied(rd_kafka_resp_err_t error, const Access& access);

/// The brokers allowed the access. Costs an atomic load while nothing is denied.
void NoteAllowed(const Access& access);

/// The error's words. For a denied request: the missing ACL, which is also noted.
std::string Explain(rd_kafka_resp_err_t error, const Access& access);

/// librdkafka's log callback: lines go to base/log.h. Any thread.
void LogClientLine(const rd_kafka_t* client, int level, const char* facility, const char* text);

/// Holds back repetitions. Allows each `key` at once, then after waits of 1 s, doubling to 5 min.
/// Thread-safe.
bool MayLog(std::string_view key);

/// What to check, judged by librdkafka's words: ". Remedy: check …"; empty: the words aren't about security.
/// Pure.
std::string_view SecurityRemedy(std::string_view text);

/// Remembers a line of librdkafka's log if it is about security. Any thread.
void NoteConnectionLine(std::string_view text);

/// ": <the last line about security>. Remedy: check …" if there was one within 45 s; empty: there was none.
/// librdkafka suppresses repetitions of a line for 30 s. Any thread.
std::string LastSecurityTrouble();

/// From now on WithoutSecrets hides `value`. Ignores values of less than four bytes: they would hide common
/// words. Any thread.
void HideSecret(std::string_view value);

/// `text` with "(hidden)" in place of each secret. If librdkafka quotes a token's settings, the rest of the
/// text is hidden, too. Any thread.
std::string WithoutSecrets(std::string_view text);

/// Applies `brokers` and the properties. Later maps override earlier ones: the room's defaults,
/// `role_defaults`, `client`, `imposed`. Logging goes to base/log.h, with repetition held back.
/// kInvalidArgument names the property.
Result<ConfHandle> MakeConf(const std::string& brokers, const ClientSettings& role_defaults,
                            const ClientSettings& client, const ClientSettings& imposed);

/// kInvalidArgument: librdkafka refuses the combination of properties.
Result<ClientHandle> MakeClient(rd_kafka_type_t type, ConfHandle conf);

/// A consumer without a group: it reads what it is assigned, commits nothing, and reports the ends of
/// partitions. Connects in the background. `role_defaults` and `imposed`: as in MakeConf. kInvalidArgument:
/// settings.
Result<ClientHandle> MakeReader(const std::string& brokers, ClientSettings role_defaults,
                                const ClientSettings& client, ClientSettings imposed);

/// What the caller should do about librdkafka's error. kUnavailable: brokers don't answer, or leaders move.
/// kNotFound: no such topic. kDenied: an ACL is missing. kRefused: fencing, policies. Also kInvalidArgument.
Code CodeOf(rd_kafka_resp_err_t error);
/// Whether a topic refuses a record for a reason that no retry mends: the topic is gone, or its settings
/// refuse the record.
bool IsRefusal(rd_kafka_resp_err_t error);
tl::unexpected<Error> FailWith(rd_kafka_resp_err_t error, std::string_view what);
/// As FailWith. For a denied request the message names the missing ACL.
tl::unexpected<Error> FailWith(rd_kafka_resp_err_t error, std::string_view what, const Access& access);

/// The metadata of one topic, with at least one partition. Asking doesn't create the topic. `wanted_for`
/// names the missing ACL. kNotFound, kUnavailable, kDenied.
Result<MetadataHandle> TopicMetadata(rd_kafka_t* client, const std::string& topic,
                                     std::chrono::milliseconds timeout,
                                     AclOperation wanted_for = AclOperation::kRead);

/// The offset after the last record of each partition (the last stable one, by the client's
/// isolation.level). kNotFound, kUnavailable, kDenied.
Result<std::map<int32_t, int64_t>> LogEnds(rd_kafka_t* client, const std::string& topic,
                                           std::span<const int32_t> partitions,
                                           std::chrono::milliseconds timeout);

/// Both ends of each partition, by two questions after each other. kNotFound, kUnavailable, kDenied.
///
/// rd_kafka_query_watermark_offsets is not used: before librdkafka 2.3 it doesn't return while the leader
/// that it asks is down, whatever its timeout (librdkafka issue 4460).
Result<std::map<int32_t, Watermarks>> QueryEnds(rd_kafka_t* client, const std::string& topic,
                                                std::span<const int32_t> partitions,
                                                std::chrono::milliseconds timeout);
Result<Watermarks> QueryEnds(rd_kafka_t* client, const std::string& topic, int32_t partition,
                             std::chrono::milliseconds timeout);
/// As the last answers of the brokers said, without asking them. -1: not known. Any thread.
Watermarks KnownEnds(rd_kafka_t* client, const std::string& topic, int32_t partition);

/// By partition, the first offset whose record is at or after `time`. A partition without such a record is
/// missing in the result. kNotFound, kUnavailable (e.g. from the embedded broker), kDenied.
Result<std::map<int32_t, int64_t>> OffsetsForTime(rd_kafka_t* client, const std::string& topic,
                                                  std::span<const int32_t> partitions, TimeMs time,
                                                  std::chrono::milliseconds timeout);

/// DescribeConfigs of a topic: values by name. Empty: the broker can't describe topics. `wanted_for`: as in
/// TopicMetadata. kNotFound, kUnavailable, kDenied. Any thread.
Result<std::map<std::string, std::string>> DescribeTopicConfigs(
    rd_kafka_t* client, const std::string& topic, std::chrono::milliseconds timeout,
    AclOperation wanted_for = AclOperation::kRead);
/// One of these values. nullopt: the broker doesn't know the name or can't describe topics.
Result<std::optional<std::string>> DescribeTopicConfig(rd_kafka_t* client, const std::string& topic,
                                                       const std::string& name,
                                                       std::chrono::milliseconds timeout,
                                                       AclOperation wanted_for = AclOperation::kRead);

/// Whether the topic's cleanup.policy has "compact". false also if the brokers deny the answer. Errors: as
/// TopicMetadata.
Result<bool> IsCompacted(rd_kafka_t* client, const std::string& topic, std::chrono::milliseconds timeout);

inline int ToTimeout(std::chrono::milliseconds timeout) {
  return static_cast<int>(timeout.count() < 0               ? 0
                          : timeout.count() > 1'000'000'000 ? 1'000'000'000
                                                            : timeout.count());
}

struct AdminRequest {
  rd_kafka_admin_op_t operation;
  const std::string& what;  // for the error
  std::chrono::milliseconds timeout;
  int32_t broker = -1;  // that must answer; -1: librdkafka chooses
};
/// One request by `send`, e.g. rd_kafka_CreateTopics. The answer may be an error. kUnavailable: none came.
template <typename Asked>
Result<EventHandle> AskAdmin(rd_kafka_t* client, const AdminRequest& request,
                             void (*send)(rd_kafka_t*, Asked**, size_t, const rd_kafka_AdminOptions_t*,
                                          rd_kafka_queue_t*),
                             Asked* asked) {
  using OptionsHandle = std::unique_ptr<rd_kafka_AdminOptions_t, Destroyer<rd_kafka_AdminOptions_destroy>>;
  const int timeout = ToTimeout(request.timeout);
  const OptionsHandle options(rd_kafka_AdminOptions_new(client, request.operation));
  rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout, nullptr, 0);
  // Refused for a request that changes nothing at the brokers: it has no such timeout.
  rd_kafka_AdminOptions_set_operation_timeout(options.get(), timeout, nullptr, 0);
  if (request.broker >= 0) rd_kafka_AdminOptions_set_broker(options.get(), request.broker, nullptr, 0);
  const QueueHandle answers(rd_kafka_queue_new(client));
  send(client, &asked, 1, options.get(), answers.get());
  EventHandle event(rd_kafka_queue_poll(answers.get(), timeout + 500));
  if (!event) return Fail(Code::kUnavailable, request.what + ": no answer");
  return event;
}

}  // namespace seen::kafka
