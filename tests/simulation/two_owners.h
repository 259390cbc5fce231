#pragma once
// Two processes of one group over one partition. Either stands still now and then, for longer than its
// session, in the middle of whatever it does. The group gives the partition to the other one. What ships
// decides what is published: the flow, the publisher, the lease, the guard. The rest is faked: a group's
// coordinator, producers whose snapshots wait and time out, a network that delays.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "flow/publisher.h"
#include "support/fakes.h"

namespace seen::sim {

class TwoOwners {
 public:
  struct Options {
    bool leased = true;          // false lets both publish whenever they believe that they own the partition
    bool guarded = true;         // false lets old snapshots stay
    bool network_holds = false;  // requests now and then, for longer than any lease
  };
  TwoOwners(uint64_t seed, Options options);
  ~TwoOwners();

  /// Three minutes, then rest. Returns what is wrong at rest; empty: nothing.
  std::string Run();

  /// Snapshots that replaced one of a later state of their user.
  int stale() const { return stale_; }
  int takeovers() const { return takeovers_; }
  int delivered() const { return delivered_; }
  /// In the middle of a process's own step.
  int stood_still_inside() const { return stood_still_inside_; }

 private:
  class Process;
  class Topic;
  /// A snapshot between a process and the topic. It arrives whatever becomes of the process.
  struct OnTheWire {
    Instant arrives;
    size_t process;
    uint64_t ticket;
    std::string user;
    uint32_t items;
  };

  // What the brokers do.
  void Coordinate();
  bool IsOwner(size_t process) const { return owner_ == process; }
  void Heartbeat(size_t process);
  void Arrive();

  void Tick();
  void Grow();
  /// Here a process may stand still: the other one and the brokers go on meanwhile.
  void Passes(size_t process);
  Instant Now() const { return clock_.Now(); }
  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound)); }

  std::mt19937_64 random_;
  const Options options_;
  VirtualClock clock_;
  std::vector<std::pair<TimeMs, std::string>> log_;
  std::map<std::string, int> items_sent_;      // by user: each is another one
  std::map<std::string, uint32_t> published_;  // the newest snapshot's items
  std::vector<std::string> topic_;             // by offset: whose snapshot stands there
  std::deque<OnTheWire> wire_;

  size_t owner_ = 0;
  std::array<Instant, 2> heard_{};  // last of each
  Instant given_at_{};              // the owner may begin from here on
  size_t still_ = 2;                // stands still; 2: none does
  bool at_rest_ = false;
  std::array<std::unique_ptr<Process>, 2> processes_;

  int stale_ = 0, takeovers_ = 0, delivered_ = 0, stood_still_inside_ = 0;
};

}  // namespace seen::sim
