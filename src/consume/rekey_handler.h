#pragma once
// Re-keys a topic: sends its records on to the topic with the required key.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "consume/rekey_flow.h"
#include "consume/stream_status.h"
#include "consume/topic_handler.h"
#include "flow/open_partition.h"

namespace seen {

class RekeyHandler final : public TopicHandler {
 public:
  /// Readers of the keyed topic, which must not answer before re-keying has caught up. Both must outlive this
  /// object.
  struct Readers {
    OpenPartitions* partitions = nullptr;  // nullptr: nobody waits
    const GroupLog* keyed = nullptr;
  };
  struct Options {
    std::string source_topic;
    std::string group_id;
    int64_t ready_lag_messages = 0;           // caught up with at most this many to re-key
    std::function<RecordKeyer()> make_keyer;  // makes one for each partition
  };
  /// All references must outlive this object.
  RekeyHandler(Options options, const Readers& readers, KeyedRecordSink& sink, DeadLetterSink& dead_letters,
               ConsumerWait& wait, RekeyReporter& reporter, const Clock& clock);

  Result<std::shared_ptr<PartitionHandler>> Open(const Assignment& assignment, const GroupLog& log) override;
  /// The only state is the group's offset, so there is nothing to drop.
  Status Drop(int32_t /*partition*/) override { return {}; }
  /// Any user may have events in the refused partition. So no more partitions begin to answer before it is
  /// read.
  void Refused(int32_t partition, const std::string& reason) override;
  void Step(GroupLog& log) override;

  /// Takes the delivery reports of records that the sink queued. Any thread.
  void Delivered(std::span<const DeliveryReport> reports);
  /// From here on the lag isn't measured any more. Any thread.
  void Stopping() { stopping_.store(true); }
  /// Any thread.
  RekeyingStatus GetStatus() const;

 private:
  class Handler;
  using FlowPointer = std::shared_ptr<RekeyFlow>;
  FlowPointer Find(int32_t partition) const;
  void Forget(const FlowPointer& flow);
  void NoteLost(int32_t partition, int64_t from, int64_t to);
  void NoteHeld(int32_t partition, HoldReason reason);
  void NoteResumed(int32_t partition);
  void LookAtLag(GroupLog& log);
  void OpenToReaders();

  const Options options_;
  const Readers readers_;
  KeyedRecordSink& sink_;
  DeadLetterSink& dead_letters_;
  ConsumerWait& wait_;
  RekeyReporter& reporter_;
  const Clock& clock_;
  std::atomic<bool> stopping_{false};
  Instant looked_at_{};  // control thread

  mutable Mutex mutex_;
  std::map<int32_t, FlowPointer> flows_ GUARDED_BY(mutex_);  // by partition
  std::map<uint32_t, FlowPointer> by_tag_ GUARDED_BY(mutex_);
  uint32_t next_tag_ GUARDED_BY(mutex_) = 1;
  RekeyProgress progress_ GUARDED_BY(mutex_);
  std::map<int32_t, uint64_t> lost_ GUARDED_BY(mutex_);
  struct Hold {
    HoldReason reason;
    TimeMs since;
  };
  std::map<int32_t, Hold> holds_ GUARDED_BY(mutex_);
  std::map<int32_t, std::string> refused_ GUARDED_BY(mutex_);  // why
};

}  // namespace seen
