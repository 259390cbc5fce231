#pragma once
// What the stream of items is begun with: its topics, its directory, its table of words.

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

/// Where indexes are: "items" of the store's directory.
std::string ItemsDirectory(const std::string& store_directory);
/// Makes it. kRefused, with the remedy, where its indexes are of another topic, or of one of another number
/// of partitions; with `rebuild` they are removed.
Status CheckItemsDirectory(const std::string& store_directory, const std::string& topic, int32_t partitions,
                           bool rebuild);

}  // namespace seen
