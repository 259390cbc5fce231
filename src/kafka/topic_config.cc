#include "kafka/topic_config.h"

#include <string_view>

#include "kafka/rdkafka_handles.h"

namespace seen::kafka {
namespace {

using ConfigResourceHandle =
    std::unique_ptr<rd_kafka_ConfigResource_t, Destroyer<rd_kafka_ConfigResource_destroy>>;
using AdminOptionsHandle = std::unique_ptr<rd_kafka_AdminOptions_t, Destroyer<rd_kafka_AdminOptions_destroy>>;

}  // namespace

Result<std::optional<std::string>> DescribeTopicConfig(rd_kafka_t* client, const std::string& topic,
                                                       const std::string& name,
                                                       std::chrono::milliseconds timeout,
                                                       AclOperation wanted_for) {
  const Access access{.operation = AclOperation::kDescribeConfigs, .topic = topic};
  const std::string what = "configuration of topic \"" + topic + "\"";
  const auto metadata = TopicMetadata(client, topic, timeout, wanted_for);
  if (!metadata) return Fail(metadata.error());
  const AdminOptionsHandle options(rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS));
  rd_kafka_AdminOptions_set_request_timeout(options.get(), ToTimeout(timeout), nullptr, 0);
  // Any broker knows the value. If no broker is named, librdkafka waits for a controller, and the embedded
  // broker has none.
  const int32_t leader = (*metadata)->topics[0].partitions[0].leader;
  if (leader >= 0) rd_kafka_AdminOptions_set_broker(options.get(), leader, nullptr, 0);
  const ConfigResourceHandle resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  const QueueHandle queue(rd_kafka_queue_new(client));
  rd_kafka_ConfigResource_t* asked[] = {resource.get()};
  rd_kafka_DescribeConfigs(client, asked, 1, options.get(), queue.get());
  const EventHandle event(rd_kafka_queue_poll(queue.get(), ToTimeout(timeout) + 500));
  if (!event) return Fail(Code::kUnavailable, what + ": no answer");
  if (const auto error = rd_kafka_event_error(event.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    // Some brokers can't be asked, among them the embedded one.
    if (error == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE) return std::optional<std::string>();
    return FailWith(error, what, access);
  }
  size_t count = 0;
  const auto* result = rd_kafka_event_DescribeConfigs_result(event.get());
  const auto** resources = rd_kafka_DescribeConfigs_result_resources(result, &count);
  if (count != 1) return Fail(Code::kUnavailable, what + ": no answer");
  if (const auto error = rd_kafka_ConfigResource_error(resources[0]); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return FailWith(error, what, access);
  }
  NoteAllowed(access);
  const auto** entries = rd_kafka_ConfigResource_configs(resources[0], &count);
  for (size_t i = 0; i < count; ++i) {
    if (std::string_view(rd_kafka_ConfigEntry_name(entries[i])) != name) continue;
    const char* const value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value != nullptr) return std::optional<std::string>(value);
  }
  return std::optional<std::string>();
}

}  // namespace seen::kafka
