#pragma once
// Names the ACL that a denied request lacks. Internal to this room.

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

#include "kafka/missing_acls.h"

namespace seen::kafka {

/// What a request needs: an operation on a topic. What is asked of a group instead needs kRead on `group`, or
/// kDescribe where `operation` says so.
struct Access {
  AclOperation operation = AclOperation::kRead;
  std::string_view topic = {};
  std::string_view group = {};  // empty: no group is asked
  bool only_describes = false;  // it asks whether the topic is there; `operation` is what that is for
};

inline Access WriteTo(std::string_view topic) { return {.operation = AclOperation::kWrite, .topic = topic}; }

bool IsDenied(rd_kafka_resp_err_t error);

/// "Kafka denies Read on topic "x". Remedy: add the ACL --operation Read --topic x (docs/…)". `error`:
/// IsDenied.
std::string MissingAcl(rd_kafka_resp_err_t error, const Access& access);

/// As MissingAcl. Logs it, with repetition held back, and keeps it for MissingAcls.
std::string NoteDenied(rd_kafka_resp_err_t error, const Access& access);

/// Brokers did it. Costs an atomic load while nothing is denied.
void NoteAllowed(const Access& access);

/// The error's words; of a denied request the ACL that it lacks, noted.
std::string Explain(rd_kafka_resp_err_t error, const Access& access);

}  // namespace seen::kafka
