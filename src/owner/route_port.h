#pragma once
// Which daemon answers for which partition, as this daemon has heard it.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Which daemon answers for a partition, as that daemon's last beat says.
struct PartitionRoute {
  int32_t partition = 0;
  std::string instance;
  std::string address;      // HOST:PORT; empty: the daemon names none
  std::string state;        // "ready": it answers
  int64_t next_offset = 0;  // of the input: all records below it are applied
  int64_t lag_messages = 0;
  uint64_t unpublished_users = 0;
  std::chrono::milliseconds heard_ago{0};
  bool here = false;        // this daemon
  bool is_replica = false;  // its group follows the group that owns
};

struct RoutesAnswer {
  std::string topic;
  std::string partitioner;
  int32_t partitions = 0;              // that users map to; 0: not known yet
  std::vector<PartitionRoute> routes;  // ascending; without partitions that no daemon reports
};

/// Any thread.
class RoutePort {
 public:
  virtual ~RoutePort() = default;
  virtual RoutesAnswer Routes() const = 0;
  /// Addresses where other daemons answer for this user: the owner, then replicas. Empty: no other daemon is
  /// known to.
  virtual std::vector<std::string> AddressesFor(std::string_view user_id) const = 0;
};

}  // namespace seen
