#pragma once
// Asks whether the brokers let this client write to a topic, without writing.

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "kafka/client_settings.h"

namespace seen {

/// nullopt: the brokers don't say. Nothing is written: the record asks for two acknowledgements (acks=2), and
/// brokers refuse that after they have checked the ACLs. Source: Kafka's KafkaApis.handleProduceRequest and
/// ReplicaManager.appendRecords. kInvalidArgument: settings.
Result<std::optional<bool>> MayWrite(const std::string& brokers, const ClientSettings& client,
                                     const std::string& topic, std::chrono::milliseconds timeout);

}  // namespace seen
