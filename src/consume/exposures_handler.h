#pragma once
// Takes the input topic's exposures, each partition into a store of its own. Opens, checkpoints and closes
// the stores. Decides what to do with a partition whose state is missing or can't be used.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/mutex.h"
#include "consume/topic_handler.h"
#include "flow/open_partition.h"
#include "flow/partition_options.h"
#include "flow/reporter.h"
#include "owner/output_guard.h"

namespace seen {

/// Where the state of partitions is kept. Implemented over store/, and by the simulation. Any thread.
class PartitionStores {
 public:
  virtual ~PartitionStores() = default;
  struct Opened {
    std::unique_ptr<PartitionStore> store;
    PartitionOptions options;  // its flow's
  };
  /// Open will be called for the partition, perhaps after other partitions. Slow work may begin now.
  virtual void Expect(int32_t /*partition*/, int32_t /*partition_count*/) {}
  /// Creates the store if it is missing. kRefused: the store was created for something else; kCorrupt;
  /// kUnavailable, kNoSpace.
  virtual Result<Opened> Open(int32_t partition, int32_t partition_count) = 0;
  /// Removes the partition's state. Its store must not be open.
  virtual Status Remove(int32_t partition) = 0;
  /// The partition isn't wanted any more: its store was closed, or the work that Expect or Open began is
  /// useless.
  virtual void Abandon(int32_t /*partition*/) {}
};

class ExposuresHandler final : public TopicHandler {
 public:
  struct Options {
    std::string directory;            // of the stores; for people
    int32_t window_days_max = 0;      // of all filters
    int32_t partitions_of_users = 0;  // that users map to; 0: the topic's number of partitions
    bool rebuild = false;             // existing state that doesn't fit is dropped
    bool awaits_rekeying = false;     // partitions don't answer before re-keying has caught up
    /// Whether another daemon answers for the partition, and said so after `since`. Empty: not known.
    std::function<bool(int32_t partition, Instant since)> ready_elsewhere = {};
    /// Whether this process's group owns the outputs. Empty: it does.
    std::function<bool()> owns = {};
    OutputGuard* guard = nullptr;             // gets the partitions that this process owns; nullptr: off
    std::function<void()> on_taken = [] {};   // any thread: something may be ready to publish
    std::function<void()> on_frozen = [] {};  // a worker: Checkpoint has a tail to write
  };
  ExposuresHandler(Options options, PartitionStores& stores, DeadLetterSink& dead_letters, Reporter& reporter,
                   const Clock& clock);

  void Expect(std::span<const int32_t> partitions, int32_t partition_count) override;
  Result<std::shared_ptr<PartitionHandler>> Open(const Assignment& assignment, const GroupLog& log) override;
  Status Drop(int32_t partition) override;
  void Refused(int32_t partition, const std::string& reason) override;
  void Abandoned(int32_t partition) override { stores_.Abandon(partition); }
  /// Closes partitions that other daemons own now, once those daemons answer. Until then this daemon answers
  /// with what it knows. Outputs are guarded and recorded only while this group owns them.
  void Step(GroupLog& log) override;

  /// Checkpoint thread. Writes every frozen tail that is due. True: some tails still wait.
  bool Checkpoint();

  OpenPartitions& open() { return open_; }
  const OpenPartitions& open() const { return open_; }

 private:
  class Handler;
  void FollowOwner();
  bool Owns() const { return !options_.owns || options_.owns(); }
  bool GoesOn(const OpenPartition& open, const Assignment& assignment) const;
  bool IsClosedNow(const OpenPartition& open, bool decided) const;
  int32_t CountOf(int32_t partition_count) const;
  Result<PartitionPointer> OpenStore(const Assignment& assignment, const GroupLog& log);
  Result<bool> HoldsWindow(const Assignment& assignment, const GroupLog& log) const;
  void WarnOfMissingState(const Assignment& assignment, bool holds_window) const;
  bool WriteFrozen(OpenPartition& open);
  /// kUnavailable: a reader still uses the partition.
  Status CloseUnassigned(int32_t partition);
  /// Waits until the partition that was open last is closed. False: a reader still uses it.
  bool AwaitClosed(int32_t partition);

  const Options options_;
  PartitionStores& stores_;
  DeadLetterSink& dead_letters_;
  Reporter& reporter_;
  const Clock& clock_;
  OpenPartitions open_;
  bool owned_ = true;           // control thread: the result of Owns() in the last step
  Instant unassigned_since_{};  // control thread: since then brokers answer, and some are unassigned
  Mutex mutex_;
  std::map<int32_t, Lifetime::Watch> last_ GUARDED_BY(mutex_);  // of the partitions opened last
};

}  // namespace seen
