#pragma once
// The topics that the stream of items is read from.

#include <string>

#include "config/config.h"
#include "kafka/admin.h"

namespace seen {

struct ItemTopics {
  std::string ordered_topic;  // items.topic itself if it has one partition
  int32_t ordered_partitions = 0;
  int32_t source_partitions = 0;  // of items.topic
};

/// Makes items.ordered_topic where it is needed and missing. kUnavailable, kNotFound: items.topic isn't
/// there, or no broker: ask again; kRefused: the broker won't make one.
Result<ItemTopics> EnsureItemTopics(const Config& config, const Admin& admin, bool embedded_kafka);

}  // namespace seen
