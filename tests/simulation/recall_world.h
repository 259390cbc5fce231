#pragma once
// Readers of snapshots and updates, over two processes that share a partition. The shipped code runs on both
// sides: the flow, the publisher, the sender of updates, the guard, and the C++ reader of clients/. Topics
// are faked: they lose their ends, expire, are compacted between any two reads, and are made anew. After
// schemas/update.md, "The reader". rules_out.py beside this file finds out which rules these worlds test.
//
//   recall_topics    what the brokers hold
//   recall_process   a daemon
//   recall_reader    a reader, and the oracles of its claims

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulation/recall_process.h"
#include "simulation/recall_reader.h"
#include "simulation/recall_topics.h"

namespace seen::sim {

class RecallWorld {
 public:
  enum class Fault {
    kCrash,
    kTakeover,        // the former owner may go on as a zombie, which sends updates alone
    kReplica,         // the other process follows as a replica; a takeover promotes it
    kUpdatesCut,      // the topic of updates loses its end
    kUpdatesExpire,   // it loses its beginning
    kUpdatesAway,     // brokers take no updates, for 30 or 120 s
    kUpdatesGivenUp,  // the producer's fatal error
    kSnapshotsCut,
    kInputRecreated,
    kStateLost,
    kFilterChanged,  // added anew, renamed, or of another kind, with a restart
    kTooLarge,       // the topic refuses a user's snapshots, or takes them again
    kNewReader,
    kCount
  };
  explicit RecallWorld(uint64_t seed);

  /// Returns the problem found; empty: none.
  std::string Run();

  int faults() const { return faults_; }
  /// Restarts and takeovers in each third of a round of the refresh.
  const std::array<int, 3>& restarts() const { return restarts_; }
  int claims() const;  // checks of a reader that said that it was fresh to some point

 private:
  void Step(RecallPace pace);
  void Grow(RecallPace pace);
  void Append(RecallPace pace);
  void Break();
  void StopOwner();
  void StopVouchingOwner();
  void OpenOwner();
  void TakeOver();
  void CutUpdates(Fault fault);
  void CutSnapshots();
  void NoticeByDelivery();
  void LoseState();
  void RecreateInput();
  void ChangeFilter();
  void Replace();
  /// Events go on without faults: all readers keep up.
  void Calm();
  void Rest();
  /// Recall services follow the filter under its name.
  void Redeploy();
  RecallProcess& owner() { return *processes_[world_.owner]; }
  RecallProcess& other() { return *processes_[1 - world_.owner]; }
  static constexpr int kReplayedAlways = 50;  // percent
  bool is_replayed_always() const { return replayed_percent_ == kReplayedAlways; }
  bool Chance(int percent) { return world_.Chance(percent); }
  size_t Below(size_t bound) { return world_.Below(bound); }

  RecallTopics world_;
  std::array<std::unique_ptr<RecallProcess>, 2> processes_;
  std::vector<std::unique_ptr<RecallReader>> readers_;
  int64_t updates_back_ms_ = 0;
  int replayed_percent_ = 8;
  bool one_changes_always_ = false;
  bool only_cuts_ = false;   // of the snapshots, with crashes and takeovers around them
  std::string beat_;         // of the last step
  int64_t vouched_to_ = -1;  // by it
  size_t users_ = 4;
  bool had_too_large_ = false;
  int takeover_in_ = 0;  // steps; 0: none is due
  std::array<int, 3> restarts_{};
  int faults_ = 0, claims_ = 0;
};

}  // namespace seen::sim
