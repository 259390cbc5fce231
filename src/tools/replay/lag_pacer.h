#pragma once
// Finds the rate at which the daemons keep up: as high as their lag allows. Once a second, the daemons write
// into the topic of watermarks how far they have read each partition.

#include <chrono>
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

/// One thread.
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

}  // namespace seen
