#pragma once
// What one client may take of a server. A client is an address: a whole IPv4 address, or the /64 of an IPv6
// address.

#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "serve/byte_budget.h"

namespace seen {

/// Limits that may change while connections are open. Thread-safe.
struct ClientLimits {
  std::atomic<size_t> connections_max{0};
  std::atomic<uint32_t> requests_per_s_max{0};
};

/// Shared by the connections of one client. Thread-safe.
class HttpClientShare {
 public:
  HttpClientShare(size_t bodies_bytes_max, ByteBudget& all) : bodies(bodies_bytes_max, &all) {}

  ByteBudget bodies;  // bytes in flight; a part of the server's budget

  /// Counts a request. False: the client has asked as often as it may, a burst of one second included.
  /// Source: the generic cell rate algorithm, ITU-T I.371, annex A.
  bool MayAsk(std::chrono::steady_clock::time_point now, uint32_t per_s_max);
  bool IsIdle(std::chrono::steady_clock::time_point now) const;

 private:
  std::atomic<int64_t> free_at_ns_{0};  // the theoretical arrival time
};

/// The clients of a server. Thread-safe.
class HttpClients {
 public:
  HttpClients(ClientLimits& limits, size_t bodies_bytes_max, ByteBudget& bodies)
      : limits_(limits), bodies_bytes_max_(bodies_bytes_max), bodies_(bodies) {}

  /// Takes a connection; Leave ends it. nullptr: the client has as many connections as it may.
  std::shared_ptr<HttpClientShare> Enter(const boost::asio::ip::address& address);
  void Leave(const boost::asio::ip::address& address);

 private:
  struct Entry {
    std::shared_ptr<HttpClientShare> share;
    size_t connections = 0;
  };
  static std::string KeyOf(const boost::asio::ip::address& address);
  void ForgetIdle() REQUIRES(mutex_);

  ClientLimits& limits_;
  const size_t bodies_bytes_max_;
  ByteBudget& bodies_;
  Mutex mutex_;
  std::map<std::string, Entry> entries_ GUARDED_BY(mutex_);
  size_t idle_ GUARDED_BY(mutex_) = 0;  // clients without a connection
};

}  // namespace seen
