#pragma once
// Served and never exposed: which served items of a partition are published as unexposed, and when they are
// done with.
//
// A served item stands in the store as a row under the second it is due; an exposure of it stands in the
// user's state in kResolvingFilter, with the partition time it was read at. Once a checkpoint holds a
// partition time past what is due, all that could resolve it is in the store too: the rows are read in their
// order, and those that nothing resolves are sent. They are dropped, by a later checkpoint, when all is
// acknowledged: at least once, also across restarts.
//
// Threads: Step and Acknowledged from the publisher's, what CheckpointPart has from the checkpoint thread,
// the rest any.

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "flow/checkpoint_part.h"
#include "flow/log_port.h"
#include "flow/status.h"
#include "flow/store_port.h"
#include "flow/unexposed_log.h"

namespace seen {

class UnexposedFlow final : public CheckpointPart {
 public:
  /// `store` outlives this.
  UnexposedFlow(const UnexposedPolicy& policy, const PartitionStore& store)
      : policy_(policy), store_(store) {}
  const UnexposedPolicy& policy() const { return policy_; }

  /// A little of what is due at `partition_time`, which a checkpoint holds.
  Status Step(TimeMs partition_time, SnapshotSink& sink, uint64_t ticket_tag);
  void Acknowledged(uint32_t ticket, bool delivered);

  Status Begin(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  /// Served rows: the tail's are added, those that are done with dropped.
  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  void Committed(const Checkpoint& checkpoint) override;
  /// Any thread: a checkpoint could drop some.
  bool HasChanges() const;
  /// What resolves nothing any more may go from the store.
  Horizon ResolvingHorizon() const;

  UnexposedStatus GetStatus() const;

 private:
  struct Message {
    std::string user_id;
    std::string json;
  };
  bool Send(Message message, SnapshotSink& sink, uint64_t ticket_tag);
  Status Judge(const PartitionStore::ServedPage& page);
  Status DropErased(const UnexposedLog& log, CheckpointWriter& writer) const;
  Status AddRows(const UnexposedLog& log, uint32_t done, CheckpointWriter& writer);

  const UnexposedPolicy policy_;
  const PartitionStore& store_;
  // Publisher thread.
  std::deque<Message> to_send_;
  std::unordered_map<uint32_t, Message> in_flight_;
  uint32_t next_ticket_ = 0;
  uint32_t read_s_ = 0;      // all that is due before it was read,
  uint64_t read_round_ = 0;  // as of this round

  // Checkpoint thread, of the checkpoint under way.
  uint32_t done_written_s_ = 0;  // rows due before it are dropped
  std::optional<ServedRow> earliest_added_;

  mutable Mutex mutex_;
  std::optional<ServedRow> after_ GUARDED_BY(mutex_);  // read up to here
  uint64_t round_ GUARDED_BY(mutex_) = 0;              // checkpoints that added rows
  uint32_t done_s_ GUARDED_BY(mutex_) = 0;
  uint64_t read_rows_ GUARDED_BY(mutex_) = 0;  // since the last checkpoint
  std::atomic<uint64_t> published_{0}, resolved_{0}, retried_{0}, outstanding_{0};
};

}  // namespace seen
