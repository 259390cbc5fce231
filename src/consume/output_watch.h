#pragma once
// Watches the snapshot topics of the partitions that this process owns. If another writer wrote a user's
// snapshot, the user is published again (owner/output_guard.h). If a topic was cut or made anew, the
// owner publishes all users again. The partition's state remembers where its topics ended. So a process that
// starts, or takes the partition over, finds out, too.

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/log_budget.h"
#include "base/threads.h"
#include "consume/snapshot_topics.h"
#include "flow/open_partition.h"
#include "flow/reporter.h"
#include "owner/output_guard.h"

namespace seen {

class OutputWatch {
 public:
  static constexpr std::chrono::milliseconds kEvery{2'000};
  // An owner finds foreign records within two steps, and has published their users again soon after.
  static constexpr std::chrono::milliseconds kLookBack{4 * kEvery};

  /// All references must outlive this object.
  OutputWatch(SnapshotTopics& topics, OutputGuard& guard, const OpenPartitions& open, Reporter& reporter)
      : topics_(topics), guard_(guard), open_(open), reporter_(reporter) {}

  /// Calls Step every kEvery on a thread of its own. Call it once.
  void Start();
  /// Joins the thread. A read in progress ends with its next records.
  void Stop() { thread_.Stop(); }

  /// One thread at a time. If brokers don't answer, the next step asks again.
  void Step();

 private:
  std::set<FilterIndex> Filters() const;
  void RaiseFloors();
  void LookBack();
  void AskEnds();
  std::vector<OutputPlace> RepublishCut();
  void StoreEnds(const std::map<OutputPlace, int64_t>& ends);
  void Repair(const OutputGuard::Range& range);

  SnapshotTopics& topics_;
  OutputGuard& guard_;
  const OpenPartitions& open_;
  Reporter& reporter_;
  LogBudget unasked_budget_{1, std::chrono::minutes(1)};
  RepeatingThread thread_;  // joined before the other members are destroyed
};

}  // namespace seen
