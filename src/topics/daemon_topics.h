#pragma once
// The topics that the daemon reads and writes: looked at, and made where they are missing.

#include "config/config.h"
#include "kafka/admin.h"
#include "topics/broker_wait.h"

namespace seen {

struct InputTopics {
  int32_t partitions = 0;         // of input.topic; 0: asked to stop
  int32_t user_partitions = 0;    // that its users map to: fewer where it gained some since
  int32_t source_partitions = 0;  // of input.source_topic, if there is one
  size_t message_bytes_max = 0;   // of input.topic, if there is a source
  // The least max.message.bytes of the topics that snapshots go to, and the dead-letter topic's.
  size_t snapshot_bytes_max = 1'000'000;
  size_t dead_letter_bytes_max = 1'000'000;
  size_t state_bytes_max = 1'000'000;  // the state topic's, where there is one
  std::string state_problem;           // why the state topic can't be used; empty: it can, or isn't wanted
};

/// What the store's directory says.
struct KnownState {
  int32_t partitions = 0;  // that users were mapped to; 0: there is no state
  bool rebuild = false;    // it is dropped where it doesn't fit: users map to the topic as it is
};

/// Waits, with back-off and saying so, until brokers answer and the input topic exists; makes the topic that
/// input is re-keyed into, the snapshot topics (compacted) and the dead-letter topic where they are missing.
/// Without a state topic the daemon goes on. kRefused: the broker won't create another topic, or a snapshot
/// topic has another number of partitions.
Result<InputTopics> WaitForTopics(const Config& config, const Admin& admin, bool embedded_kafka,
                                  KnownState known, const BrokerWait& wait);

}  // namespace seen
