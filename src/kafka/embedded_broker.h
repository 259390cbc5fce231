#pragma once
// librdkafka's mock cluster as a broker for trials: `seend --embedded-kafka` and tests.
//
// It uses real TCP on loopback, in this process. kcat and any librdkafka client can talk to it (groups,
// idempotent producers, headers, codecs). Its limits:
// - no Java clients, no CreateTopics, no DescribeConfigs, no offsets-for-times (it answers "none");
// - it creates every topic that a client asks about, so no topic is ever missing;
// - it keeps the last 5 MB of a partition, in memory;
// - always an ephemeral port: librdkafka offers no other;
// - it treats static members as dynamic ones: a consumer that comes back waits until its old session ends;
// - a group's first join takes 3 s (0.1 s from librdkafka 2.6 on); a member with a
//   session.timeout.ms below that never joins.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace seen {

/// Any thread.
class EmbeddedBroker {
 public:
  /// `topics`: name to partition count. Other topics are created on first use with 4 partitions.
  static Result<std::unique_ptr<EmbeddedBroker>> Start(const std::map<std::string, int32_t>& topics);
  ~EmbeddedBroker();
  EmbeddedBroker(const EmbeddedBroker&) = delete;
  EmbeddedBroker& operator=(const EmbeddedBroker&) = delete;

  /// "127.0.0.1:PORT", for bootstrap.servers.
  const std::string& bootstrap() const { return bootstrap_; }

  /// kInvalidArgument: the topic exists already.
  Status CreateTopic(const std::string& topic, int32_t partitions);
  /// False: drops all connections and takes no new ones, like a broker that is down. True: back again.
  void SetReachable(bool reachable);

 private:
  struct Impl;
  explicit EmbeddedBroker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::string bootstrap_;
};

}  // namespace seen
