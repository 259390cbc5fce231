#pragma once
// Two consumer groups must not publish into the same topics: their snapshots would overwrite each other's.

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "topics/daemon_topics.h"

namespace seen {

/// Reads the topic of watermarks, which must exist. kRefused, with the remedy: a group other than
/// `kafka.group_id` writes to the topic now. A group that has stopped is no obstacle: if another group wrote
/// the last records, this function waits some seconds for a newer one. kUnavailable: retry. Control thread.
Status RefuseOtherGroup(const KafkaConfig& kafka, const std::string& watermarks_topic,
                        const BrokerWait& wait);

}  // namespace seen
