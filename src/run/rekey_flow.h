#pragma once
// One partition of a topic that isn't keyed as it has to be (by user; items by language): its records on to
// the topic that is, unchanged but for their key; what can't be decoded to the dead letters, from here, where
// its place is known; what the configuration skips nowhere. At least once: position() stays below what hasn't
// arrived.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "base/mutex.h"
#include "decode/event_plan.h"
#include "flow/reporter.h"
#include "run/pending_offsets.h"
#include "run/record_keyer.h"
#include "run/rekey_port.h"

namespace seen {

struct RekeyOptions {
  int32_t partition = 0;
  uint32_t ticket_tag = 0;  // upper half of its tickets
  std::shared_ptr<const EventPlan> plan = EventPlan::Default();
  uint64_t event_bytes_max = 1 << 20;
  std::chrono::milliseconds future_skew_max{300'000};
  std::shared_ptr<RecordKeyer> keyer;  // this flow's own; nullptr: events, as the three above say
};

/// Threads: Apply, ReachedEnd and Rewind the worker's; everything else any.
class RekeyFlow {
 public:
  RekeyFlow(const RekeyOptions& options, int64_t start_offset, KeyedRecordSink& sink,
            DeadLetterSink& dead_letters, RekeyReporter& reporter);

  /// Takes records in order of their offsets; those that were taken are left out. Fewer than given: a queue
  /// is full, or Rewind is due; the rest is to be given again.
  size_t Apply(std::span<const Record> records);
  void ReachedEnd(int64_t end_offset);
  /// Where to read on from, if something wasn't delivered and it is time to try again.
  std::optional<int64_t> Rewind(Instant now);

  struct Told {
    uint32_t number;  // lower half of the ticket
    Delivery delivery;
  };
  void Delivered(std::span<const Told> told, Instant now);

  /// The source's offset below which everything is acknowledged, or was skipped.
  int64_t position() const;
  int64_t next_offset() const;
  int32_t partition() const { return options_.partition; }

 private:
  enum class Step : uint8_t { kTaken, kHeld };
  Step Take(const Record& record, RekeyReport& report);
  Step Send(std::string_view key, const Record& record, RekeyReport& report);
  Step Reject(const Rejection& rejection, const Record& record, RekeyReport& report);
  void Pass(int64_t offset);

  const RekeyOptions options_;
  KeyedRecordSink& sink_;
  DeadLetterSink& dead_letters_;
  RekeyReporter& reporter_;
  const std::shared_ptr<RecordKeyer> keyer_;

  mutable Mutex mutex_;
  PendingOffsets pending_ GUARDED_BY(mutex_);
  std::set<int64_t> too_large_ GUARDED_BY(mutex_);  // records that the topic refused for their length
  std::optional<Instant> rewind_due_ GUARDED_BY(mutex_);
  std::atomic<bool> rewinding_{false};  // rewind_due_ has a value
};

}  // namespace seen
