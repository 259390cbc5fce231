#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <map>

#include "base/log.h"
#include "base/mutex.h"
#include "kafka/rdkafka_handles.h"

namespace seen {
namespace {

constexpr std::chrono::minutes kDeniedRemembered{10};  // even rare requests come every five minutes

struct Denied {
  std::string text;
  std::chrono::steady_clock::time_point until;
};

struct DeniedAcls {
  Mutex mutex;
  std::map<std::string, Denied, std::less<>> by_key GUARDED_BY(mutex);
  std::atomic<size_t> count{0};  // of `by_key`
};

/// One for the whole process, as the log is: clients are created and destroyed all the time.
DeniedAcls& Board() {
  static DeniedAcls acls;
  return acls;
}

struct Acl {
  std::string_view operation;
  std::string_view resource;  // an option of kafka-acls.sh without its dashes
  std::string_view name;      // empty: the cluster
};

Acl AclOf(rd_kafka_resp_err_t error, const kafka::Access& access) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return {access.operation == AclOperation::kDescribe ? "Describe" : "Read", "group", access.group};
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return {"IdempotentWrite", "cluster", {}};
    default:
      return {AclOperationName(access.operation), "topic", access.topic};
  }
}

std::string TextOf(const Acl& acl) {
  return fmt::format(
      "Kafka denies {0} on {1} \"{2}\". Remedy: add the ACL --operation {0} --{1} {2} (docs/OPERATIONS.md, "
      "Access to Kafka)",
      acl.operation, acl.resource, acl.name);
}

std::string KeyOf(const Acl& acl, bool only_describes) {
  return fmt::format("{} {} {}{}", acl.operation, acl.resource, acl.name, only_describes ? " described" : "");
}

}  // namespace

std::string_view AclOperationName(AclOperation operation) {
  switch (operation) {
    case AclOperation::kRead:
      return "Read";
    case AclOperation::kWrite:
      return "Write";
    case AclOperation::kCreate:
      return "Create";
    case AclOperation::kDelete:
      return "Delete";
    case AclOperation::kDescribe:
      return "Describe";
    case AclOperation::kDescribeConfigs:
      return "DescribeConfigs";
  }
  return "unknown";
}

std::string MissingTopicAcl(AclOperation operation, std::string_view topic) {
  return TextOf({AclOperationName(operation), "topic", topic});
}

std::vector<std::string> MissingAcls() {
  std::vector<std::string> texts;
  DeniedAcls& acls = Board();
  if (acls.count.load(std::memory_order_relaxed) == 0) return texts;
  const auto now = std::chrono::steady_clock::now();
  const MutexLock lock(acls.mutex);
  std::erase_if(acls.by_key, [&](const auto& one) { return one.second.until < now; });
  acls.count.store(acls.by_key.size(), std::memory_order_relaxed);
  for (const auto& [key, one] : acls.by_key) {
    if (texts.empty() || texts.back() != one.text)
      texts.push_back(one.text);  // keys of one ACL are neighbours
  }
  return texts;
}

namespace kafka {

bool IsDenied(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
         error == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
         error == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED;
}

std::string MissingAcl(rd_kafka_resp_err_t error, const Access& access) {
  const Acl acl = AclOf(error, access);
  if (acl.name.empty()) {  // Kafka checks it only for users who may write to no topic
    return "Kafka denies IdempotentWrite on the cluster, and Write on every topic. Remedy: add the ACLs "
           "--operation Write (docs/OPERATIONS.md, Access to Kafka)";
  }
  return TextOf(acl);
}

std::string NoteDenied(rd_kafka_resp_err_t error, const Access& access) {
  std::string text = MissingAcl(error, access);
  std::string key = KeyOf(AclOf(error, access), access.only_describes);
  if (MayLog("denied " + key)) log::Warning("Kafka denies access", {{"reason", text}});
  DeniedAcls& acls = Board();
  const MutexLock lock(acls.mutex);
  acls.by_key[std::move(key)] = {text, std::chrono::steady_clock::now() + kDeniedRemembered};
  acls.count.store(acls.by_key.size(), std::memory_order_relaxed);
  return text;
}

void NoteAllowed(const Access& access) {
  DeniedAcls& acls = Board();
  if (acls.count.load(std::memory_order_relaxed) == 0) return;
  const bool is_group = !access.group.empty();
  const Acl acl = AclOf(
      is_group ? RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED : RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
      access);
  const MutexLock lock(acls.mutex);
  const auto found = acls.by_key.find(KeyOf(acl, access.only_describes));
  if (found == acls.by_key.end()) return;
  log::Info("Kafka allows access again",
            {{"operation", acl.operation}, {"resource", acl.resource}, {"name", acl.name}});
  acls.by_key.erase(found);
  acls.count.store(acls.by_key.size(), std::memory_order_relaxed);
}

std::string Explain(rd_kafka_resp_err_t error, const Access& access) {
  return IsDenied(error) ? NoteDenied(error, access) : std::string(rd_kafka_err2str(error));
}

}  // namespace kafka
}  // namespace seen
