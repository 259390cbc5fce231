#pragma once
// The topics that hold the stream of items.

#include <string>

#include "config/config.h"
#include "kafka/admin.h"

namespace seen {

struct ItemTopics {
  std::string ordered_topic;  // items.topic itself if it has one partition
  int32_t ordered_partitions = 0;
  int32_t source_partitions = 0;  // of items.topic
};

/// Creates items.ordered_topic if it is needed and missing. kUnavailable, kNotFound: items.topic doesn't
/// exist, or no broker answers: retry. kRefused: the broker refuses to create the topic.
Result<ItemTopics> EnsureItemTopics(const Config& config, const Admin& admin, bool embedded_kafka);

}  // namespace seen
