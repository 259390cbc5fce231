#pragma once
// What Kafka's access control denied this process lately: docs/OPERATIONS.md, "Access to Kafka".

#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// As kafka-acls.sh names them. Kafka takes kRead, kWrite and kDelete for kDescribe, too.
enum class AclOperation { kRead, kWrite, kCreate, kDelete, kDescribe, kDescribeConfigs };

std::string_view AclOperationName(AclOperation operation);

/// "Kafka denies Read on topic "x". Remedy: add the ACL --operation Read --topic x (docs/…)"
std::string MissingTopicAcl(AclOperation operation, std::string_view topic);

/// A sentence for each ACL that is missing, with the remedy. One is forgotten once Kafka allows the same
/// again, or ten minutes after it was denied last. Any thread.
std::vector<std::string> MissingAcls();

}  // namespace seen
