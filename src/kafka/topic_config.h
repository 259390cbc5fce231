#pragma once
// DescribeConfigs for one value. Internal to this room.

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "kafka/missing_acls.h"

namespace seen::kafka {

/// nullopt: the broker doesn't know the name or can't describe topics. `wanted_for`: as in TopicMetadata.
/// kNotFound, kUnavailable, kDenied. Any thread.
Result<std::optional<std::string>> DescribeTopicConfig(rd_kafka_t* client, const std::string& topic,
                                                       const std::string& name,
                                                       std::chrono::milliseconds timeout,
                                                       AclOperation wanted_for = AclOperation::kRead);

}  // namespace seen::kafka
