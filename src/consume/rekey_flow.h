#pragma once
// Re-keys one partition of a topic whose key isn't the required one (the user; for items the language). Sends
// its records on to the topic with that key; only the key changes. Records that can't be decoded go to the
// dead letters from here, where their position is known. Records that the configuration skips go nowhere. At
// least once: position() stays below every record that isn't acknowledged.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "consume/pending_offsets.h"
#include "decode/event_plan.h"
#include "flow/log_port.h"
#include "flow/reporter.h"
#include "similar/port/item_decoder.h"

namespace seen {

/// What re-keying needs from the log in addition to consumed records and dead letters. Implemented by kafka/.
/// The result for one record that was queued.
struct DeliveryReport {
  uint64_t ticket = 0;
  Delivery delivery = Delivery::kAcknowledged;
};

/// Sends records under another key. Any thread.
class KeyedRecordSink {
 public:
  enum class SendResult : uint8_t { kQueued, kFull, kTooLarge };

  virtual ~KeyedRecordSink() = default;
  /// Queues the record's value, headers and timestamp under `key`; all is copied. The sink reports the result
  /// with `ticket`: exactly once for each record that was queued, and for no other. The report comes on a
  /// thread of the sink, and may come before this returns. kFull: try again later.
  virtual SendResult TrySend(std::string_view key, const Record& record, uint64_t ticket) = 0;
};

/// Measures, from time to time, how far behind re-keying is, over all partitions of the source.
/// One thread at a time.
class RekeyProgress {
 public:
  struct Partition {
    int64_t low_watermark = 0;
    int64_t high_watermark = 0;
    int64_t committed = -1;  // -1: nothing yet
    int64_t position = -1;   // this daemon's own, which may be beyond `committed`; -1: not known

    int64_t done() const { return std::max({low_watermark, committed, position}); }
    int64_t lag() const { return std::max<int64_t>(0, high_watermark - done()); }
  };
  using Partitions = std::map<int32_t, Partition>;

  /// Two looks must be at least as far apart as two commits.
  void Look(Partitions now) {
    std::optional<int64_t> behind;
    bool is_cut = false;  // the group has committed more than there is: nobody knows what is missing
    for (const auto& [number, partition] : now) {
      is_cut |= partition.committed > partition.high_watermark;
      const auto before = partitions_.find(number);
      // Messages that came since the last look may be in flight, however many they are.
      const int64_t wanted = before == partitions_.end()
                                 ? partition.high_watermark
                                 : std::min(before->second.high_watermark, partition.high_watermark);
      behind = std::max(behind.value_or(0), wanted - partition.done());
    }
    behind_ = is_cut ? std::nullopt : behind;
    partitions_ = std::move(now);
  }
  /// For the partition that is furthest behind: the messages that were there at the look before the last one
  /// and aren't re-keyed yet. nullopt: not known.
  std::optional<int64_t> behind() const { return behind_; }
  const Partitions& partitions() const { return partitions_; }

 private:
  Partitions partitions_;
  std::optional<int64_t> behind_;
};

struct RecordKey {
  std::string_view key;  // valid until the next call, and no longer than the record
  SkipReason skip = SkipReason::kNone;
};
/// Chooses the key under which a record goes on to another topic. The record must have a value. Rejection:
/// the record can't be read. One thread.
using RecordKeyer = std::function<tl::expected<RecordKey, Rejection>(const Record& record)>;

/// Keys events by their user.
RecordKeyer NewEventKeyer(const std::shared_ptr<const EventPlan>& plan, uint64_t event_bytes_max,
                          std::chrono::milliseconds future_skew_max);

/// Keys items by their language (LanguageKey).
RecordKeyer NewItemKeyer(const ItemFormat& format, uint64_t record_bytes_max,
                         std::chrono::milliseconds future_skew_max);

struct RekeyOptions {
  int32_t partition = 0;
  uint32_t ticket_tag = 0;  // upper half of the flow's tickets
  std::shared_ptr<const EventPlan> plan = EventPlan::Default();
  uint64_t event_bytes_max = 1 << 20;
  std::chrono::milliseconds future_skew_max{300'000};
  RecordKeyer keyer;  // of this flow only; empty: events, by the three fields above
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

  struct DeliveryReport {
    uint32_t number;  // lower half of the ticket
    Delivery delivery;
  };
  void Delivered(std::span<const DeliveryReport> told, Instant now);

  /// The source's offset below which every record is acknowledged or skipped.
  int64_t position() const;
  int64_t next_offset() const;
  /// The worker's: what the record at next_offset waits for. kNone: for nothing, or for the keyed topic.
  HoldReason held_by() const { return held_by_; }
  int32_t partition() const { return options_.partition; }

 private:
  enum class Step : uint8_t { kTaken, kHeld };
  Step Handle(const Record& record, RekeyReport& report);
  Step HandleSeveral(const Record& record, RekeyReport& report);
  Step Send(std::string_view key, const Record& record, RekeyReport& report);
  Step Reject(const Rejection& rejection, const Record& record, RekeyReport& report);
  void Pass(int64_t offset);

  const RekeyOptions options_;
  KeyedRecordSink& sink_;
  DeadLetterSink& dead_letters_;
  RekeyReporter& reporter_;
  const RecordKeyer keyer_;

  // A record with several events, and how many of them were taken (the worker's).
  std::vector<std::string_view> events_;
  int64_t several_offset_ = -1;
  size_t several_taken_ = 0;
  HoldReason held_by_ = HoldReason::kNone;  // the worker's

  mutable Mutex mutex_;
  PendingOffsets pending_ GUARDED_BY(mutex_);
  // Events that the keyed topic refused as too large: offset and number in their record.
  std::set<std::pair<int64_t, uint32_t>> too_large_ GUARDED_BY(mutex_);
  std::optional<Instant> rewind_due_ GUARDED_BY(mutex_);
  std::atomic<bool> rewinding_{false};  // rewind_due_ has a value
};

}  // namespace seen
