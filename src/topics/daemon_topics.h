#pragma once
// Checks the topics that the daemon reads and writes, and creates those that are missing.

#include "config/config.h"
#include "kafka/admin.h"
#include "topics/broker_wait.h"

namespace seen {

struct InputTopics {
  int32_t partitions = 0;         // of input.topic; 0: the program was asked to stop
  int32_t user_partitions = 0;    // that users map to: fewer if input.topic gained some since
  int32_t source_partitions = 0;  // of input.source_topic, if there is one
  size_t message_bytes_max = 0;   // of input.topic, if there is a source topic
  // The least max.message.bytes of all output topics except the dead-letter topic and the state topic. Then
  // the dead-letter topic's.
  size_t snapshot_bytes_max = 1'000'000;
  size_t dead_letter_bytes_max = 1'000'000;
  size_t state_bytes_max = 1'000'000;  // the state topic's, if there is one
  std::string state_problem;           // why the state topic can't be used; empty: it can, or isn't wanted
};

/// What the store's directory knows.
struct KnownState {
  int32_t partitions = 0;  // that users were mapped to; 0: there is no state
  bool rebuild = false;    // state that doesn't fit is dropped: users map to the topic as it is
};

/// Waits, with back-off and log lines, until the brokers answer and the input topic exists. Then creates the
/// topics that are missing. These are the topic that input is re-keyed into, the snapshot topics (compacted),
/// the dead-letter topic, and others that the configuration asks for. Without a state topic the daemon goes
/// on. kRefused: the broker refuses to create another topic, or a snapshot topic has another number of
/// partitions.
Result<InputTopics> WaitForTopics(const Config& config, const Admin& admin, bool embedded_kafka,
                                  KnownState known, const BrokerWait& wait);

}  // namespace seen
