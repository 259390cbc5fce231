#pragma once
// Where generate sends its events: a topic, or JSON lines on standard output; and the sending of a file.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "kafka/bulk_producer.h"
#include "tools/common_options.h"
#include "tools/load/rate_limiter.h"
#include "tools/progress.h"

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
/// kUnavailable: `producer` has given up some records.
Status CheckDelivered(const BulkProducer& producer);

/// JSON lines to send: exposures, also old ones as new, or any records that name their key.
struct ExposureFile {
  std::string path;        // JSON lines, also .gz; "-" is standard input
  std::string key_member;  // empty: exposures, keyed by user id
  uint64_t lines_max = 0;  // 0: all
  double seconds_max = 0;  // 0: no limit
  bool shift = false;      // moves all times, so that the last is `until`
  TimeMs until;
};

/// Lines that can't be read are left out and counted; standard error names the first one. kNotFound: `shift`,
/// and the file has no exposure.
Result<SentCounts> SendFile(const ExposureFile& file, RateLimiter limiter, EventSink& sink,
                            Progress& progress);

/// The greatest `exposed_at` in a file of exposures. Lines that can't be read don't count. kNotFound: the
/// file has no exposure.
Result<TimeMs> LastExposure(const std::string& path);

/// `line`, an exposure as a JSON object, with its `exposed_at` moved by `shift_ms`. All other members stay
/// the same. kMalformed: not an object with an integer `exposed_at`.
Result<std::string> ShiftExposure(std::string_view line, int64_t shift_ms);

}  // namespace seen
