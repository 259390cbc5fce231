#pragma once
// What Kafka's access control has denied this process recently: docs/OPERATIONS.md, "Access to Kafka".

#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Named as in kafka-acls.sh. In Kafka kRead, kWrite and kDelete include kDescribe.
enum class AclOperation { kRead, kWrite, kCreate, kDelete, kDescribe, kDescribeConfigs };

std::string_view AclOperationName(AclOperation operation);

/// "Kafka denies Read on topic "x". Remedy: add the ACL --operation Read --topic x (docs/…)"
std::string MissingTopicAcl(AclOperation operation, std::string_view topic);

/// One sentence for each missing ACL, with the remedy. An ACL is forgotten once Kafka allows the same access
/// again, or ten minutes after the last denial. Any thread.
std::vector<std::string> MissingAcls();

}  // namespace seen
