#pragma once
// What the flow needs of the log (Kafka): records in, snapshots and dead letters out. Implemented by kafka/
// and by the simulation.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "flow/store_port.h"
#include "model/event.h"
#include "model/hashes.h"

namespace seen {

/// What a record's headers say about a replay (docs/REPLAY.md). Views are valid as long as the batch.
struct ReplayNote {
  enum class Kind : uint8_t {
    kRecord,  // an event of a history
    kBegin,   // no event: the run begins in this partition
    kEnd,     // no event: it has ended there
  };
  Kind kind = Kind::kRecord;
  bool publishes_live = false;  // its users are published at once, not when the run ends
  std::string_view run;
};

/// A consumed record. Views are valid as long as the record's batch.
struct Record {
  int64_t offset = 0;
  TimeMs timestamp;
  std::string_view key;
  std::string_view value;
  bool value_is_null = false;
  const void* message = nullptr;       // the log's own message, for the headers
  const ReplayNote* replay = nullptr;  // nullptr: a live record

  // Of one event of a record that holds several: `value` is the event's.
  uint32_t event = 0;  // its place, from 1 on
  bool more = false;   // further events of the record follow
};

/// Where the publisher's records go.
enum class Output : uint8_t {
  kSnapshots,   // a filter's topic
  kRetired,     // a topic that no filter has any more
  kUnexposed,   // unexposed.topic
  kWatermarks,  // watermarks.topic
  kCluster,     // cluster.topic
};

/// A rendered filter to send, or another record of the publisher.
struct OutgoingSnapshot {
  Output output = Output::kSnapshots;
  FilterIndex filter;  // for kSnapshots
  std::string_view user_id;
  std::string_view bytes;  // empty: a tombstone
  uint64_t ticket = 0;
  bool queued = false;  // set by the sink
  // For kRetired. If the topic doesn't exist, the sink drops the record, counts it and reports it, and
  // acknowledges it.
  std::string_view retired_topic = {};
  int32_t partition = -1;  // of the topic; -1: the key's
};

/// The result of sending a record to a topic.
enum class Delivery : uint8_t {
  kAcknowledged,
  kTooLarge,  // the topic takes no record of this size now
  kFailed,    // the producer gave up on it; send it again
  kWithheld,  // never sent; send it now
};

/// Sends rendered filters. Used from one thread, the publisher's, which also runs the acknowledgements.
class SnapshotSink {
 public:
  virtual ~SnapshotSink() = default;
  /// Queues `snapshots` in order, each under its user's id on its output's topic, and copies the bytes. Not
  /// `queued`: the queue is full, try this one again later. `ticket` comes back in an acknowledgement,
  /// exactly once, if and only if it was queued.
  virtual void TrySend(std::span<OutgoingSnapshot> snapshots) = 0;

  using Acknowledge = std::function<void(uint64_t ticket, Delivery delivery)>;
  /// Runs the acknowledgements that have arrived; does not wait.
  virtual void PollAcknowledgements(const Acknowledge& acknowledge) = 0;
  /// The same, but first sends the queue without waiting for more. May wait for a millisecond.
  virtual void SendNow(const Acknowledge& acknowledge) = 0;
  /// Queued and not acknowledged yet.
  virtual uint64_t outstanding() const = 0;
};

/// The outcome of a record that was sent through a PartitionSink.
struct PartitionDelivery {
  int32_t partition = 0;
  uint64_t ticket = 0;
  int64_t offset = -1;       // the record's offset; -1: the record was given up
  bool too_large = false;    // because the topic refuses it, or its batch, for the size
  std::string refusal = {};  // for people: why it was given up
};

/// Writes a topic whose records belong to partitions, not to keys: the state, and updates. One thread.
class PartitionSink {
 public:
  virtual ~PartitionSink() = default;
  /// Queues the record behind the partition's other records; copies the bytes. False: the queue is full, try
  /// again later. `ticket` comes back exactly once if the record was queued.
  virtual bool TrySend(int32_t partition, std::string_view record, uint64_t ticket) = 0;
  /// Runs `on_delivery` for outcomes that have arrived, a partition's in the order of their offsets. Doesn't
  /// wait.
  virtual void PollDeliveries(const std::function<void(const PartitionDelivery&)>& on_delivery) = 0;
};

struct DeadLetter {
  Rejection rejection;
  int32_t partition = 0;
  const Record* record = nullptr;
};

/// Sends records that can't be decoded. Any thread.
class DeadLetterSink {
 public:
  virtual ~DeadLetterSink() = default;
  /// Queues the record's key and value (cut to what the topic takes) with headers reason, field,
  /// source-topic, source-partition, source-offset, and source-element for an event of several. False: the
  /// queue is full, try again. Delivery is retried without end. A letter is dropped only if the topic
  /// refuses it as too large even without key and value, or refuses it otherwise for half a minute.
  virtual bool TrySend(const DeadLetter& letter) = 0;
  /// The smallest source offset of `partition` that was sent and isn't acknowledged; -1: none.
  virtual int64_t OldestUnacknowledged(int32_t partition) const = 0;
  /// Forgets what is outstanding for `partition`. It was revoked: its next owner reads those records again.
  virtual void Forget(int32_t partition) = 0;
};

/// kRefused: records that were read are no longer in the log, and retention didn't delete them. `evidence`
/// names topic and partition; `remedy` is a clause.
inline Error LogWasCut(const std::string& evidence, const std::string& remedy) {
  return {Code::kRefused, evidence + ": the topic was recreated, or its log was cut. Remedy: " + remedy};
}

/// The record's anchor. It distinguishes the record from any other that could stand at its offset.
inline Anchor AnchorOf(const Record& record) {
  return {record.offset, record.timestamp, RecordHash(record.key, record.value)};
}

}  // namespace seen
