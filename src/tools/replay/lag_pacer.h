#pragma once
// How fast a replay sends: as fast as the daemons' lag and the brokers' acknowledgements allow.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kafka/admin.h"
#include "kafka/client_settings.h"
#include "kafka/topic_reader.h"

namespace seen {

/// Finds the rate at which the daemons keep up. Once a second, the daemons write into the topic of watermarks
/// how far they have read each partition. One thread.
class LagPacer {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    int32_t partitions = 0;
    std::string watermarks_topic;
    std::chrono::milliseconds lag_max{2000};
    double rate_max = 0;  // 0: no limit
  };
  /// kNotFound: there is no such topic of watermarks. kInvalidArgument: the configuration has none.
  static Result<std::unique_ptr<LagPacer>> Open(const Options& options);

  /// Once a second, reads the daemons' new records and sets the rate. True if this call did so.
  bool Look();
  double rate() const { return rate_; }  // events a second
  double lag_s() const { return lag_s_; }

  /// The next rate. Lower if the lag is over its limit, or if the position of a partition isn't known.
  /// Otherwise higher.
  static double NextRate(double rate, double lag_s, double lag_max_s, bool is_known, double rate_max);

 private:
  LagPacer(const Options& options, std::unique_ptr<Admin> admin, std::unique_ptr<TopicReader> follower);
  Status Take(std::span<const Record> records);
  void Judge();

  /// How far the daemon has read a partition.
  struct Place {
    int64_t offset = -1;
    TimeMs at;         // the record's
    double speed = 0;  // recent speed in records a second
  };
  const Options options_;
  const std::unique_ptr<Admin> admin_;
  const std::unique_ptr<TopicReader> follower_;
  std::map<int32_t, Place> places_;
  Instant next_look_;
  double rate_;
  double lag_s_ = 0;
};

/// Limits what a replay has in flight, so that live events don't wait behind it: the number of records that
/// may be sent and not yet acknowledged. An acknowledgement in time widens the window by a step, if at least
/// half of the window was in use. An acknowledgement is late if it takes longer than the quickest one, by
/// more than `queueing_max` and by more than half of the quickest time. A late acknowledgement shows a queue,
/// at the brokers or for a processor, and narrows the window by a third. Source: delay-based control as in
/// LEDBAT (RFC 6817), additive increase and multiplicative decrease as in TCP. One thread.
class SendWindow {
 public:
  static constexpr size_t kFirst = 1'000;
  static constexpr size_t kLeast = 200;
  static constexpr size_t kMost = 20'000;
  static constexpr size_t kStep = 50;

  /// `queueing_max`: includes the time that a record waits for its batch.
  explicit SendWindow(std::chrono::microseconds queueing_max) : queueing_max_(queueing_max) {}

  /// Call it when a record is acknowledged, `latency` after it was sent. `in_flight`: other records that were
  /// sent and not acknowledged at that time. At most one record per round trip.
  void Acknowledged(std::chrono::microseconds latency, uint64_t in_flight, Instant now);

  size_t size() const { return size_; }  // records
  /// The quickest acknowledgement of the last one to two minutes.
  std::chrono::microseconds quickest() const { return std::min(quickest_, quickest_before_); }

 private:
  const std::chrono::microseconds queueing_max_;
  size_t size_ = kFirst;
  Instant since_{};  // start of the current minute
  std::chrono::microseconds quickest_ = std::chrono::microseconds::max();
  std::chrono::microseconds quickest_before_ = std::chrono::microseconds::max();  // in the minute before
};

}  // namespace seen
