#pragma once
// The other daemons, as HTTP needs them: which one answers for a user, and how a request is passed on.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http_message.h"

namespace seen {

/// Which daemon answers for a partition, as that daemon's last beat says.
struct PartitionRoute {
  int32_t partition = 0;
  std::string instance;
  std::string address;  // HOST:PORT; empty: the daemon names none
  std::string state;    // "ready": it answers
  int64_t lag_messages = 0;
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

/// A request as it is passed on.
struct ForwardedRequest {
  std::string address;  // HOST:PORT
  std::string method;
  std::string target;
  std::string body;
  std::string content_type;
  std::chrono::milliseconds deadline{0};
};

/// Requests that were passed on.
struct ForwardFigures {
  uint64_t answered = 0;  // by the other daemon, whatever it said
  uint64_t failed = 0;    // no answer, or none in time
  uint64_t refused = 0;   // too many under way
};

/// Any thread.
class ForwardPort {
 public:
  virtual ~ForwardPort() = default;
  /// Whether a request may go to this address.
  virtual bool Allows(const std::string& address) const = 0;
  /// True: a request to this address got no answer within the last second, so others are asked first.
  virtual bool IsSilent(const std::string& address) const = 0;
  /// Calls `give` once, from any thread: with the other daemon's answer, or with 503 and the reason.
  virtual void Forward(ForwardedRequest request, std::function<void(HttpResponse)> give) = 0;
};

}  // namespace seen
