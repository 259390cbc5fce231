#pragma once
// The input topic's exposures, each partition into a store of its own: opened, checkpointed, closed, and what
// becomes of it when its state is missing or can't be used.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/mutex.h"
#include "flow/open_partition.h"
#include "flow/output_guard.h"
#include "flow/partition_options.h"
#include "flow/reporter.h"
#include "run/topic_taker.h"

namespace seen {

/// Where partitions' state is kept. Implemented over store/, and by the simulation. Any thread.
class PartitionStores {
 public:
  virtual ~PartitionStores() = default;
  struct Opened {
    std::unique_ptr<PartitionStore> store;
    PartitionOptions options;  // its flow's
  };
  /// Open is to be called for it, perhaps after others: what takes long may begin.
  virtual void Expect(int32_t /*partition*/, int32_t /*partition_count*/) {}
  /// Makes it where missing. kRefused: it was made for something else; kCorrupt; kUnavailable, kNoSpace.
  virtual Result<Opened> Open(int32_t partition, int32_t partition_count) = 0;
  /// Removes what there is. It isn't open.
  virtual Status Remove(int32_t partition) = 0;
  /// The partition isn't wanted any more: its store is closed, or what Expect or Open has begun is of no use.
  virtual void Abandon(int32_t /*partition*/) {}
};

class ExposuresTaker final : public TopicTaker {
 public:
  struct Options {
    std::string directory;            // of the stores; for people
    int32_t window_days_max = 0;      // of all filters
    int32_t partitions_of_users = 0;  // what users are mapped to; 0: the topic's number of partitions
    bool rebuild = false;             // state that was there is dropped where it doesn't fit
    bool awaits_rekeying = false;     // partitions don't answer before re-keying has caught up
    /// Whether another daemon answers for the partition, and said so after `since`. Empty: nobody can tell.
    std::function<bool(int32_t partition, Instant since)> ready_elsewhere = {};
    /// Whether this process's group owns the outputs; empty: it does.
    std::function<bool()> owns = {};
    OutputGuard* guard = nullptr;             // is told which partitions are this process's; nullptr: off
    std::function<void()> on_taken = [] {};   // any thread: there may be something to publish
    std::function<void()> on_frozen = [] {};  // a worker: there is something for Checkpoint
  };
  ExposuresTaker(Options options, PartitionStores& stores, DeadLetterSink& dead_letters, Reporter& reporter,
                 const Clock& clock);

  void Expect(std::span<const int32_t> partitions, int32_t partition_count) override;
  Result<std::shared_ptr<PartitionTaker>> Open(const Assignment& assignment, const GroupLog& log) override;
  Status Drop(int32_t partition) override;
  void Refused(int32_t partition, const std::string& reason) override;
  void Abandoned(int32_t partition) override { stores_.Abandon(partition); }
  /// Closes partitions that went to others, once those answer. Until then they answer from what is known
  /// here. Outputs are guarded and recorded from the moment that this group owns them, and not beyond.
  void Step(GroupLog& log) override;

  /// Checkpoint thread: writes every frozen tail for which it is time. True: some still wait.
  bool Checkpoint();

  OpenPartitions& open() { return open_; }
  const OpenPartitions& open() const { return open_; }

 private:
  class Taken;
  void FollowOwner();
  bool Owns() const { return !options_.owns || options_.owns(); }
  bool GoesOn(const OpenPartition& open, const Assignment& assignment) const;
  bool IsClosedNow(const OpenPartition& open, bool decided) const;
  int32_t CountOf(int32_t partition_count) const;
  Result<PartitionPointer> OpenStore(const Assignment& assignment, const GroupLog& log);
  Result<bool> HoldsWindow(const Assignment& assignment, const GroupLog& log) const;
  void WarnOfMissingState(const Assignment& assignment, bool holds_window) const;
  bool WriteFrozen(OpenPartition& open);
  /// kUnavailable: somebody still reads it.
  Status CloseUnassigned(int32_t partition);
  /// Waits until nobody reads the partition that was open last. False: somebody still does.
  bool AwaitReaders(int32_t partition);

  const Options options_;
  PartitionStores& stores_;
  DeadLetterSink& dead_letters_;
  Reporter& reporter_;
  const Clock& clock_;
  OpenPartitions open_;
  bool owned_ = true;           // control thread: in the last step
  Instant unassigned_since_{};  // control thread: brokers have answered, or all was assigned, until then
  Mutex mutex_;
  std::map<int32_t, std::weak_ptr<OpenPartition>> last_ GUARDED_BY(mutex_);  // whoever still reads it
};

}  // namespace seen
