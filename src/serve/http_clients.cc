#include "serve/http_clients.h"

#include <algorithm>

namespace seen {
namespace {

using std::chrono::steady_clock;
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr size_t kIdleClientsMax =
    1024;  // clients without a connection, kept so that their past requests count

int64_t NsOf(steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

bool HttpClientShare::MayAsk(steady_clock::time_point now, uint32_t per_s_max) {
  const int64_t now_ns = NsOf(now);
  const int64_t interval_ns = kSecondNs / std::max<uint32_t>(1, per_s_max);
  int64_t free_at = free_at_ns_.load(std::memory_order_relaxed);
  int64_t next = 0;
  do {
    if (free_at - now_ns > kSecondNs - interval_ns) return false;
    next = std::max(free_at, now_ns) + interval_ns;
  } while (!free_at_ns_.compare_exchange_weak(free_at, next, std::memory_order_relaxed));
  return true;
}

bool HttpClientShare::IsIdle(steady_clock::time_point now) const {
  return free_at_ns_.load(std::memory_order_relaxed) <= NsOf(now);
}

std::string HttpClients::KeyOf(const boost::asio::ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    return {bytes.begin(), bytes.end()};
  }
  const auto v6 = address.to_v6();
  const auto bytes = v6.to_bytes();
  if (v6.is_v4_mapped()) return {bytes.begin() + 12, bytes.end()};
  return {bytes.begin(), bytes.begin() + 8};
}

std::shared_ptr<HttpClientShare> HttpClients::Enter(const boost::asio::ip::address& address) {
  const MutexLock lock(mutex_);
  const auto [found, is_new] = entries_.try_emplace(KeyOf(address));
  Entry& entry = found->second;
  if (is_new) entry.share = std::make_shared<HttpClientShare>(bodies_bytes_max_, bodies_);
  if (entry.connections >= limits_.connections_max.load(std::memory_order_relaxed)) return nullptr;
  if (entry.connections == 0 && !is_new) --idle_;
  ++entry.connections;
  return entry.share;
}

void HttpClients::Leave(const boost::asio::ip::address& address) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(KeyOf(address));
  if (found == entries_.end() || --found->second.connections > 0) return;
  if (found->second.share->IsIdle(steady_clock::now())) {
    entries_.erase(found);
  } else if (++idle_ > kIdleClientsMax) {  // kept: else a client's rate could begin anew with each connection
    ForgetIdle();
  }
}

std::shared_ptr<HttpClientShare> HttpClients::Named(const boost::asio::ip::address& address) {
  const MutexLock lock(mutex_);
  std::shared_ptr<HttpClientShare>& share = entries_[KeyOf(address)].share;
  if (share) return share;
  const auto named = share = std::make_shared<HttpClientShare>(bodies_bytes_max_, bodies_);
  if (++idle_ > kIdleClientsMax) ForgetIdle();
  return named;
}

void HttpClients::ForgetIdle() {
  const auto now = steady_clock::now();
  idle_ -= std::erase_if(entries_, [now](const auto& entry) {
    return entry.second.connections == 0 && entry.second.share->IsIdle(now);
  });
}

}  // namespace seen
