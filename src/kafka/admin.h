#pragma once
// Requests about topics: whether they exist, how many partitions they have, creating them.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "consume/group_log.h"
#include "kafka/client_settings.h"

namespace seen {

struct TopicSpec {
  std::string name;
  int32_t partitions = 1;
  std::map<std::string, std::string>
      config;  // e.g. {"cleanup.policy", "compact"}; replication: the broker's default
  AclOperation used_for = AclOperation::kRead;  // names the missing ACL if the topic isn't visible
};

struct TopicState {
  int32_t partitions = 0;
  bool created = false;
  std::string warning;  // for people: it exists, but not as asked (partition count, config); empty: fine
};

/// What the brokers say of a topic.
struct TopicDescription {
  int32_t partitions = 0;
  std::map<std::string, std::string> config;  // empty: brokers can't say, or deny this client the answer
};

/// Any thread. Every call is bounded by its timeout. kUnavailable: the brokers don't answer; call again with
/// back-off.
class Admin {
 public:
  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<Admin>> Open(const std::string& brokers, const ClientSettings& client);
  ~Admin();
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  /// kNotFound: no such topic; the call doesn't create it. kDenied: an ACL for `used_for` is missing.
  Result<int32_t> PartitionCount(const std::string& topic, std::chrono::milliseconds timeout,
                                 AclOperation used_for = AclOperation::kRead) const;

  /// Creates the topic if it is missing. Never alters an existing topic: `warning` names the differences.
  /// kDenied: an ACL is missing. kRefused: the broker refuses (policy). The embedded broker can't create
  /// topics this way: it has its own.
  Result<TopicState> EnsureTopic(const TopicSpec& spec, std::chrono::milliseconds timeout) const;

  /// As PartitionCount, with the topic's configuration.
  Result<TopicDescription> Describe(const std::string& topic, std::chrono::milliseconds timeout,
                                    AclOperation used_for = AclOperation::kRead) const;

  /// The names of all topics that this client may see.
  Result<std::vector<std::string>> TopicNames(std::chrono::milliseconds timeout) const;

  /// One value of a topic's configuration, e.g. "retention.ms". nullopt: the broker doesn't say. kDenied.
  Result<std::optional<std::string>> TopicConfig(const std::string& topic, const std::string& name,
                                                 std::chrono::milliseconds timeout,
                                                 AclOperation used_for = AclOperation::kRead) const;

  /// Deletes the records before these offsets, by partition. kDenied; kRefused: the broker refuses;
  /// kUnavailable.
  Status DeleteRecords(const std::string& topic, const std::map<int32_t, int64_t>& before,
                       std::chrono::milliseconds timeout) const;

  /// The offset after the last record of each of these partitions. kNotFound; kUnavailable.
  Result<std::map<int32_t, int64_t>> Ends(const std::string& topic, std::span<const int32_t> partitions,
                                          std::chrono::milliseconds timeout) const;

  /// Both ends of each of these partitions. kNotFound; kUnavailable.
  Result<std::map<int32_t, Watermarks>> BothEnds(const std::string& topic,
                                                 std::span<const int32_t> partitions,
                                                 std::chrono::milliseconds timeout) const;

  /// The members of a consumer group, as "instance at host" or "client id at host". A static member that has
  /// stopped stays a member until its session ends. kDenied; kUnavailable.
  Result<std::vector<std::string>> GroupMembers(const std::string& group,
                                                std::chrono::milliseconds timeout) const;

  /// The offsets that a consumer group has committed, by partition. A partition without one isn't there.
  /// kDenied; kUnavailable.
  Result<std::map<int32_t, int64_t>> Committed(const std::string& group, const std::string& topic,
                                               std::span<const int32_t> partitions,
                                               std::chrono::milliseconds timeout) const;

  /// kUnavailable until some broker answers. Used at the start, to report that no broker answers.
  Status Ping(std::chrono::milliseconds timeout) const;

 private:
  struct Impl;
  explicit Admin(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Whether the brokers let this client write to a topic. nullopt: the brokers don't say. Nothing is written:
/// the record asks for two acknowledgements (acks=2), and brokers refuse that after they have checked the
/// ACLs. Source: Kafka's KafkaApis.handleProduceRequest and ReplicaManager.appendRecords. kInvalidArgument:
/// settings.
Result<std::optional<bool>> MayWrite(const std::string& brokers, const ClientSettings& client,
                                     const std::string& topic, std::chrono::milliseconds timeout);

}  // namespace seen
