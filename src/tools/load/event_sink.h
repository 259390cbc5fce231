#pragma once
// Where generate sends its events: a topic, or JSON lines on standard output.

#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/result.h"
#include "kafka/bulk_producer.h"
#include "tools/common_options.h"

namespace seen {

struct SentCounts {
  uint64_t events = 0;
  uint64_t exposures = 0;
  uint64_t bytes = 0;
  uint64_t rejected = 0;  // lines of a file that were left out
};

/// Whether `seconds_max` have passed since `start`; 0: no limit.
bool TimeIsUp(double seconds_max, Instant start);

/// One thread.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual Status Send(std::span<const KeyedRecord> events) = 0;
  /// Ends the stream. On success all events have arrived.
  virtual Status Finish() = 0;
  /// Events that have arrived: acknowledged by the brokers, or written out.
  virtual uint64_t delivered() const = 0;
};

std::unique_ptr<EventSink> MakeStdoutSink();
Result<std::unique_ptr<EventSink>> MakeTopicSink(const KafkaOptions& options);

/// Waits until `producer` has delivered everything. Gives up after 30 s without a delivery.
Status FlushAll(BulkProducer& producer);

}  // namespace seen
