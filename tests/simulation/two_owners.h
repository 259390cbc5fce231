#pragma once
// Two processes of one group over one partition. Sometimes one of them stands still for longer than its
// session, at any point of its work. Then the group gives the partition to the other one. The shipped code
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
    bool network_holds = false;  // sometimes holds a request for longer than any lease
    bool kills = false;          // sometimes kills one of the processes
    bool looks_back = true;      // false: a new owner doesn't read the former owner's last snapshots
    // Each process is its own group: one owns, and the other is its replica. Sometimes an operator promotes
    // the replica.
    bool two_groups = false;
    bool replica_forgets = false;  // withheld snapshots count as published at once
  };
  TwoOwners(uint64_t seed, Options options);
  ~TwoOwners();

  /// Runs for three minutes, then comes to rest. Returns the problem found at rest; empty: none.
  std::string Run();

  /// The number of snapshots that replaced a newer one of the same user.
  int stale() const { return stale_; }
  int takeovers() const { return takeovers_; }
  int kills() const { return kills_; }
  int delivered() const { return delivered_; }
  /// How often a process stood still within its own step.
  int stood_still_inside() const { return stood_still_inside_; }

 private:
  class Heard;
  class Process;
  class Topic;
  /// A snapshot on the way from a process to the topic. The snapshot arrives even if the process ends.
  struct OnTheWire {
    Instant arrives;
    size_t process;
    uint64_t ticket;
    Instant made;  // the record's timestamp
    std::string user;
    uint32_t items;
  };
  /// A record in the topic.
  struct Stored {
    Instant made;
    std::string user;
  };

  // The brokers' side.
  void Coordinate();
  void Operate();
  void KillSome();
  bool IsOwner(size_t process) const { return options_.two_groups || owner_ == process; }
  void Heartbeat(size_t process);
  void Arrive();

  void Tick();
  void Grow();
  /// A point at which a process may stand still. The other process and the brokers go on meanwhile.
  void Passes(size_t process);
  Instant Now() const { return clock_.Now(); }
  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound)); }

  std::mt19937_64 random_;
  const Options options_;
  VirtualClock clock_;
  std::vector<std::pair<TimeMs, std::string>> log_;
  std::map<std::string, int> items_sent_;      // by user: the number of different items
  std::map<std::string, uint32_t> published_;  // by user: how many items the last snapshot has
  std::vector<Stored> topic_;                  // by offset
  std::deque<OnTheWire> wire_;

  size_t owner_ = 0;
  std::array<Instant, 2> heard_{};  // when each process was heard last
  Instant given_at_{};              // the owner may begin from then on
  size_t still_ = 2;                // the process that stands still; 2: none
  bool at_rest_ = false;
  std::array<std::unique_ptr<Process>, 2> processes_;

  // With two groups: the last promotion, and the last beat of an owner.
  std::string promotion_;
  std::string beat_;
  int kills_ = 0;
  int stale_ = 0, takeovers_ = 0, delivered_ = 0, stood_still_inside_ = 0;
};

}  // namespace seen::sim
