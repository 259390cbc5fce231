#pragma once
// Names the ACL that a denied request lacks. Internal to this room.

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

#include "kafka/missing_acls.h"

namespace seen::kafka {

/// What a request needs: an operation on a topic. If `group` is set, a request to the group needs kRead on
/// it, or kDescribe if `operation` is kDescribe.
struct Access {
  AclOperation operation = AclOperation::kRead;
  std::string_view topic = {};
  std::string_view group = {};  // empty: no group is asked
  bool only_describes = false;  // asks whether the topic exists; `operation` is the later use
};

inline Access WriteTo(std::string_view topic) { return {.operation = AclOperation::kWrite, .topic = topic}; }

bool IsDenied(rd_kafka_resp_err_t error);

/// "Kafka denies Read on topic "x". Remedy: add the ACL --operation Read --topic x (docs/…)".
/// IsDenied(`error`) must hold.
std::string MissingAcl(rd_kafka_resp_err_t error, const Access& access);

/// As MissingAcl. Also logs the text, with repetition held back, and keeps it for MissingAcls.
std::string NoteDenied(rd_kafka_resp_err_t error, const Access& access);

/// The brokers allowed the access. Costs an atomic load while nothing is denied.
void NoteAllowed(const Access& access);

/// The error's words. For a denied request: the missing ACL, which is also noted.
std::string Explain(rd_kafka_resp_err_t error, const Access& access);

}  // namespace seen::kafka
