#pragma once
// What a user gives this process for Kafka: librdkafka's properties in `kafka.client`, which are checked
// before anything connects, and ACLs (docs/OPERATIONS.md, "Access to Kafka").

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

/// Any property of librdkafka by its own name, e.g. {"security.protocol", "SASL_SSL"}.
using ClientSettings = std::map<std::string, std::string>;

struct ClientSettingError {
  std::string property;
  std::string message;  // "kafka.client.linger.ms: "x": " and what librdkafka says, or why seend sets it
};

/// All errors in the settings of `kafka.client`: unknown properties, bad values, and properties that would
/// break the daemon's guarantees (e.g. enable.auto.commit). Empty: there are none. Values of secrets aren't
/// shown.
std::vector<ClientSettingError> ClientSettingErrors(const ClientSettings& settings);

/// The same errors as one kInvalidArgument, with one message per line.
Status CheckClientSettings(const ClientSettings& settings);

/// Whether a librdkafka property of this name holds a secret. Pure.
bool IsSecretSetting(std::string_view property);

/// session.timeout.ms from `settings`, or librdkafka's default.
std::chrono::milliseconds SessionTimeout(const ClientSettings& settings);

/// librdkafka's version as linked at run time, e.g. "2.0.2".
std::string ClientLibraryVersion();

/// Whether this librdkafka may end the process after a topic was deleted and created again (its issue 4778,
/// in 2.4 to 2.8): a client that never saw the topic missing frees what it knows of it, and still uses that
/// memory.
bool ClientLibraryUsesFreedTopics();

/// Named as in kafka-acls.sh. In Kafka kRead, kWrite and kDelete include kDescribe.
enum class AclOperation { kRead, kWrite, kCreate, kDelete, kDescribe, kDescribeConfigs };

std::string_view AclOperationName(AclOperation operation);

/// "Kafka denies Read on topic "x". Remedy: add the ACL --operation Read --topic x (docs/…)"
std::string MissingTopicAcl(AclOperation operation, std::string_view topic);

/// One sentence for each missing ACL, with the remedy. An ACL is forgotten once Kafka allows the same access
/// again, or ten minutes after the last denial. Any thread.
std::vector<std::string> MissingAcls();

}  // namespace seen
