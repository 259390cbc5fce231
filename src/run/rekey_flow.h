#pragma once
// Re-keys one partition of a topic whose key isn't the required one (the user; for items the language). Sends
// its records on to the topic with that key; only the key changes. Records that can't be decoded go to the
// dead letters from here, where their position is known. Records that the configuration skips go nowhere. At
// least once: position() stays below every record that isn't acknowledged.

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
  uint32_t ticket_tag = 0;  // upper half of the flow's tickets
  std::shared_ptr<const EventPlan> plan = EventPlan::Default();
  uint64_t event_bytes_max = 1 << 20;
  std::chrono::milliseconds future_skew_max{300'000};
  std::shared_ptr<RecordKeyer> keyer;  // of this flow only; nullptr: events, by the three fields above
};

/// Threads. Apply, ReachedEnd and Rewind: the worker. Everything else: any thread.
class RekeyFlow {
 public:
  RekeyFlow(const RekeyOptions& options, int64_t start_offset, KeyedRecordSink& sink,
            DeadLetterSink& dead_letters, RekeyReporter& reporter);

  /// Takes records in the order of their offsets, and skips those that were taken before. Returns how many it
  /// took or skipped. Fewer than given: a queue is full, or Rewind is due; the rest must be given again.
  size_t Apply(std::span<const Record> records);
  void ReachedEnd(int64_t end_offset);
  /// Returns the offset to read from again, if a record wasn't delivered and it is time to retry.
  std::optional<int64_t> Rewind(Instant now);

  struct Told {
    uint32_t number;  // lower half of the ticket
    Delivery delivery;
  };
  void Delivered(std::span<const Told> told, Instant now);

  /// The source's offset below which every record is acknowledged or skipped.
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
  std::set<int64_t> too_large_ GUARDED_BY(mutex_);  // records that the keyed topic refused as too large
  std::optional<Instant> rewind_due_ GUARDED_BY(mutex_);
  std::atomic<bool> rewinding_{false};  // rewind_due_ has a value
};

}  // namespace seen
