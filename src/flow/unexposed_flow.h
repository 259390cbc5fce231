#pragma once
// Items that were served and never exposed: which ones are published, and when their rows are dropped.
//
// A served item is a row in the store, under the second at which it is due. An exposure of the item is in the
// user's state in kResolvingFilter, with the partition time at which it was read. Once a checkpoint holds a
// partition time past the due second, everything that could resolve the row is in the store, too. Then the
// rows are read in order, and those that nothing resolves are sent. A later checkpoint drops the rows when
// all are acknowledged. So each is sent at least once, also across restarts.
//
// Threads: the publisher calls Step and Acknowledged, the checkpoint thread the functions of CheckpointPart,
// and any thread the rest.

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "flow/log_port.h"
#include "flow/partition_checkpoint.h"
#include "flow/partition_status.h"
#include "flow/store_port.h"
#include "flow/unexposed_log.h"

namespace seen {

class UnexposedFlow final : public CheckpointPart {
 public:
  /// `store` outlives this.
  UnexposedFlow(const UnexposedPolicy& policy, const PartitionStore& store)
      : policy_(policy), store_(store) {}
  const UnexposedPolicy& policy() const { return policy_; }

  /// Does a part of what is due at `partition_time`. A checkpoint must hold that time.
  Status Step(TimeMs partition_time, SnapshotSink& sink, uint64_t ticket_tag);
  void Acknowledged(uint32_t ticket, bool delivered);

  Status Begin(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  /// Adds the tail's served rows, and drops those that are done.
  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  void Committed(const Checkpoint& checkpoint) override;
  /// Any thread: whether a checkpoint could drop rows.
  bool HasChanges() const override;
  /// The store may drop exposures before this horizon, because they no longer resolve anything.
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
  uint32_t read_s_ = 0;      // all rows due before it were read
  uint64_t read_round_ = 0;  // the round of that reading

  // Checkpoint thread, of the checkpoint under way.
  uint32_t done_written_s_ = 0;  // rows due before it are dropped
  std::optional<ServedRow> earliest_added_;

  mutable Mutex mutex_;
  std::optional<ServedRow> after_ GUARDED_BY(mutex_);  // read up to here
  uint64_t round_ GUARDED_BY(mutex_) = 0;              // how many checkpoints added rows
  uint32_t done_s_ GUARDED_BY(mutex_) = 0;
  uint64_t read_rows_ GUARDED_BY(mutex_) = 0;  // since the last checkpoint
  std::atomic<uint64_t> published_{0}, resolved_{0}, retried_{0}, outstanding_{0};
};

}  // namespace seen
