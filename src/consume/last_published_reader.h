#pragma once
// Reads the snapshot topics of filters whose state was begun without what is published there
// (flow/last_published.h). Reads them once, up to their ends. Until then their partitions publish nothing.

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"
#include "consume/snapshot_topics.h"
#include "flow/open_partition.h"
#include "flow/reporter.h"

namespace seen {

class LastPublishedReader {
 public:
  static constexpr std::chrono::milliseconds kEvery{200};

  /// All references must outlive this object.
  LastPublishedReader(SnapshotTopics& topics, const OpenPartitions& open, Reporter& reporter,
                      const Clock& clock)
      : topics_(topics), open_(open), reporter_(reporter), clock_(clock) {}

  /// Calls Step every kEvery on a thread of its own. Call it once.
  void Start();
  /// Joins the thread. A read in progress ends with its next records.
  void Stop();

  /// One thread at a time. Reads what is due now. Errors go to the reporter, and are retried.
  void Step();

 private:
  struct Row {
    std::string user_id;
    std::string snapshot;
  };
  Status ReadOne(const PartitionPointer& open, FilterIndex filter_index);
  static Status Keep(OpenPartition& open, FilterIndex filter_index, const std::vector<Row>& rows);

  SnapshotTopics& topics_;
  const OpenPartitions& open_;
  Reporter& reporter_;
  const Clock& clock_;
  Instant retry_at_{};      // used by Step
  RepeatingThread thread_;  // joined before the other members are destroyed
};

}  // namespace seen
