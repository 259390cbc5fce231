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
    bool kills = false;          // either process now and then
    bool looks_back = true;      // false: a new owner doesn't look at what the former one had just got
    // Each process is a group of its own: one owns, and the other one is its replica. An operator promotes
    // one or the other now and then.
    bool two_groups = false;
    bool replica_forgets = false;  // what it withholds: it counts as published at once
  };
  TwoOwners(uint64_t seed, Options options);
  ~TwoOwners();

  /// Three minutes, then rest. Returns what is wrong at rest; empty: nothing.
  std::string Run();

  /// Snapshots that replaced one of a later state of their user.
  int stale() const { return stale_; }
  int takeovers() const { return takeovers_; }
  int kills() const { return kills_; }
  int delivered() const { return delivered_; }
  /// In the middle of a process's own step.
  int stood_still_inside() const { return stood_still_inside_; }

 private:
  class Heard;
  class Process;
  class Topic;
  /// A snapshot between a process and the topic. It arrives whatever becomes of the process.
  struct OnTheWire {
    Instant arrives;
    size_t process;
    uint64_t ticket;
    Instant made;  // its timestamp
    std::string user;
    uint32_t items;
  };
  /// In the topic.
  struct Stored {
    Instant made;
    std::string user;
  };

  // What the brokers do.
  void Coordinate();
  void Operate();
  void KillSome();
  bool IsOwner(size_t process) const { return options_.two_groups || owner_ == process; }
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
  std::vector<Stored> topic_;                  // by offset
  std::deque<OnTheWire> wire_;

  size_t owner_ = 0;
  std::array<Instant, 2> heard_{};  // last of each
  Instant given_at_{};              // the owner may begin from here on
  size_t still_ = 2;                // stands still; 2: none does
  bool at_rest_ = false;
  std::array<std::unique_ptr<Process>, 2> processes_;

  // Of two groups: what the owner's last beats said, and since when the owner is one.
  std::deque<std::pair<Instant, int64_t>> beats_;
  int kills_ = 0;
  int stale_ = 0, takeovers_ = 0, delivered_ = 0, stood_still_inside_ = 0;
};

}  // namespace seen::sim
