#pragma once
// Whom to ask about a user: the daemon that owns the user's partition.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "routes.h"

namespace seen::client::examples {

/// Reads the routes on a thread of its own: nobody waits for it. Any thread may ask.
class Owners {
 public:
  using Clock = std::chrono::steady_clock;
  /// GET {address}/v1/routes: the body; nullopt without an answer. Called on the thread of Owners; must end
  /// in about a second.
  using Fetch = std::function<std::optional<std::string>(const std::string& address)>;
  struct Pace {
    Clock::duration refresh_every = std::chrono::seconds(10);  // the routes are read again
    Clock::duration refresh_pause = std::chrono::seconds(1);   // and no sooner, however much goes wrong
    Clock::duration away = std::chrono::seconds(1);  // a daemon that didn't answer is asked last for so long
  };

  /// `addresses`: http://host:port of some daemons of one group, or of a load balancer.
  Owners(std::vector<std::string> addresses, Fetch fetch)
      : Owners(std::move(addresses), std::move(fetch), Pace()) {}
  Owners(std::vector<std::string> addresses, Fetch fetch, Pace pace)
      : given_(std::move(addresses)), fetch_(std::move(fetch)), pace_(pace) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Owners() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Owners(const Owners&) = delete;
  Owners& operator=(const Owners&) = delete;

  /// The owner, then its replicas, then the others, which pass a request on. Those that are away come last.
  std::vector<Daemon> WhomToAsk(const std::string& user) {
    const std::lock_guard lock(mutex_);
    std::vector<Daemon> daemons = routes_.Of(user);
    if (daemons.empty() && !routes_.addresses().empty()) Want();
    for (Daemon& other : AllBut(daemons)) daemons.push_back(std::move(other));
    AwayLast(daemons);
    return daemons;
  }

  /// It didn't answer.
  void Failed(const Daemon& daemon) {
    const std::lock_guard lock(mutex_);
    away_until_[daemon.address] = Clock::now() + pace_.away;
    Want();
  }

  /// The routes seem to be old. Returns at once.
  void Refresh() {
    const std::lock_guard lock(mutex_);
    Want();
  }

 private:
  void Want() {
    wanted_ = true;
    changed_.notify_all();
  }

  /// Those that the routes name were alive a moment ago: they come first. They take turns.
  std::vector<Daemon> AllBut(const std::vector<Daemon>& listed) {
    std::vector<Daemon> others;
    const auto is_in = [](const std::vector<Daemon>& daemons, const std::string& address) {
      return std::any_of(daemons.begin(), daemons.end(),
                         [&](const Daemon& d) { return d.address == address; });
    };
    ++turn_;
    for (const auto* addresses : {&routes_.addresses(), &given_}) {
      const std::size_t before = others.size();
      for (const std::string& address : *addresses) {
        if (!is_in(listed, address) && !is_in(others, address)) others.push_back({address, ""});
      }
      const std::size_t added = std::max<std::size_t>(1, others.size() - before);
      const auto begin = others.begin() + static_cast<std::ptrdiff_t>(before);
      std::rotate(begin, begin + static_cast<std::ptrdiff_t>(turn_ % added), others.end());
    }
    return others;
  }

  void AwayLast(std::vector<Daemon>& daemons) const {
    const auto now = Clock::now();
    std::stable_partition(daemons.begin(), daemons.end(), [&](const Daemon& daemon) {
      const auto found = away_until_.find(daemon.address);
      return found == away_until_.end() || found->second <= now;
    });
  }

  void Run() {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      changed_.wait_for(lock, pace_.refresh_every, [this] { return wanted_ || stopped_; });
      wanted_ = false;
      std::vector<Daemon> daemons = AllBut({});
      AwayLast(daemons);
      for (const Daemon& daemon : daemons) {
        if (stopped_) return;
        lock.unlock();
        const auto answer = fetch_(daemon.address);
        auto routes = answer ? Routes::Parse(*answer) : std::nullopt;
        lock.lock();
        // A daemon that has heard nobody has no routes: what was known is better.
        if (!routes || routes->addresses().empty()) continue;
        routes_ = *std::move(routes);
        break;
      }
      changed_.wait_for(lock, pace_.refresh_pause, [this] { return stopped_; });
    }
  }

  const std::vector<std::string> given_;
  const Fetch fetch_;
  const Pace pace_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  Routes routes_;
  std::map<std::string, Clock::time_point> away_until_;  // by address
  std::size_t turn_ = 0;
  bool wanted_ = true;
  bool stopped_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace seen::client::examples
