#pragma once
// What one client may take of a server. A client is an address: a whole IPv4 address, or the /64 of an IPv6
// address.

#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"

namespace seen {

/// A bound on the bytes of everything that is in flight. Thread-safe; never waits.
class ByteBudget {
 public:
  /// `whole`: outlives this. Bytes that are taken here are taken there too. With a whole, the first to take
  /// may have more than `total`, as far as the whole has space. Otherwise a body that fits into the whole
  /// could be too long for the part.
  explicit ByteBudget(size_t total, ByteBudget* whole = nullptr) : total_(total), whole_(whole) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  /// False: so many bytes aren't left now. Refusals are counted.
  bool Take(size_t bytes) {
    size_t taken = taken_.load(std::memory_order_relaxed);
    do {
      const bool fits = taken <= total_ && bytes <= total_ - taken;
      if (!fits && (whole_ == nullptr || taken > 0)) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
    } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    if (whole_ == nullptr || whole_->Take(bytes)) return true;
    taken_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  void GiveBack(size_t bytes) {
    taken_.fetch_sub(bytes, std::memory_order_relaxed);
    if (whole_ != nullptr) whole_->GiveBack(bytes);
  }

  size_t total() const { return total_; }
  size_t taken() const { return taken_.load(std::memory_order_relaxed); }
  uint64_t refused_total() const { return refused_.load(std::memory_order_relaxed); }

 private:
  const size_t total_;
  ByteBudget* const whole_;
  std::atomic<size_t> taken_{0};
  std::atomic<uint64_t> refused_{0};
};

/// The bytes that one holder has taken of a budget. The budget outlives its holders. One thread.
class BudgetShare {
 public:
  explicit BudgetShare(ByteBudget& budget) : budget_(&budget) {}
  ~BudgetShare() { GiveBack(); }
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;

  /// False: the budget doesn't have that many bytes now; what is held stays.
  bool GrowTo(size_t bytes) {
    if (bytes <= held_) return true;
    if (!budget_->Take(bytes - held_)) return false;
    held_ = bytes;
    return true;
  }
  void GiveBack() {
    budget_->GiveBack(held_);
    held_ = 0;
  }
  /// Gives back what is held, and takes from this budget from now on.
  void TakeFrom(ByteBudget& budget) {
    GiveBack();
    budget_ = &budget;
  }
  size_t held() const { return held_; }
  const ByteBudget& budget() const { return *budget_; }

 private:
  ByteBudget* budget_;
  size_t held_ = 0;
};

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
  /// The share of a client for whom a daemon asks.
  std::shared_ptr<HttpClientShare> Named(const boost::asio::ip::address& address);

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
