#pragma once
// A topic that isn't keyed as it has to be, on to the topic that is.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "flow/open_partition.h"
#include "run/rekey_flow.h"
#include "run/rekey_progress.h"
#include "run/status.h"
#include "run/topic_taker.h"

namespace seen {

class RekeyTaker final : public TopicTaker {
 public:
  /// Who reads the keyed topic and must not answer before this has caught up; both outlive this.
  struct Readers {
    OpenPartitions* partitions = nullptr;  // nullptr: nobody waits
    const GroupLog* keyed = nullptr;
  };
  struct Options {
    std::string source_topic;
    std::string group_id;
    int64_t ready_lag_messages = 0;                            // caught up with no more than these to re-key
    std::function<std::shared_ptr<RecordKeyer>()> make_keyer;  // one of its own for each partition
  };
  /// All references outlive this.
  RekeyTaker(Options options, const Readers& readers, KeyedRecordSink& sink, DeadLetterSink& dead_letters,
             RunnerWait& wait, RekeyReporter& reporter, const Clock& clock);

  Result<std::shared_ptr<PartitionTaker>> Open(const Assignment& assignment, const GroupLog& log) override;
  /// The state is the group's offset.
  Status Drop(int32_t /*partition*/) override { return {}; }
  /// Any user may have events in it: nobody is answered anew before it is read.
  void Refused(int32_t partition, const std::string& reason) override;
  void Step(GroupLog& log) override;

  /// What became of records that the sink took. Any thread.
  void Delivered(std::span<const DeliveryReport> reports);
  /// The lag isn't asked for any more. Any thread.
  void Stopping() { stopping_.store(true); }
  /// Any thread.
  RekeyingStatus GetStatus() const;

 private:
  class Taken;
  using FlowPointer = std::shared_ptr<RekeyFlow>;
  FlowPointer Find(int32_t partition) const;
  void Forget(const FlowPointer& flow);
  void NoteLost(int32_t partition, int64_t from, int64_t to);
  void LookAtLag(GroupLog& log);
  void OpenToReaders();

  const Options options_;
  const Readers readers_;
  KeyedRecordSink& sink_;
  DeadLetterSink& dead_letters_;
  RunnerWait& wait_;
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
  std::map<int32_t, std::string> refused_ GUARDED_BY(mutex_);  // why
};

}  // namespace seen
