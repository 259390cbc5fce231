#pragma once
// Asks the brokers, again and again, where the logs of the open partitions end, so that answers know their
// age.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/repeating_thread.h"
#include "base/result.h"
#include "flow/open_partition.h"

namespace seen {

class LogEndWatch {
 public:
  static constexpr std::chrono::milliseconds kEvery{250};
  static constexpr std::chrono::milliseconds kQuestion{500};  // of all partitions that answer
  /// Of one that doesn't. A broker answers the requests of a connection in their order, and the one before
  /// may be a fetch that waits for records: fetch.wait.max.ms, 100 by default.
  static constexpr std::chrono::milliseconds kSlowQuestion{250};
  static constexpr std::chrono::milliseconds kSlowStep{250};  // of all of these together

  /// Asks for the ends of these partitions, in one request a broker. All of them, or an error.
  using Ask = std::function<Result<std::map<int32_t, int64_t>>(std::span<const int32_t> partitions,
                                                               std::chrono::milliseconds timeout)>;

  /// `open` and `clock` outlive this.
  LogEndWatch(Ask ask, const OpenPartitions& open, const Clock& clock);

  /// Calls Step every kEvery on a thread of its own. Once.
  void Start();
  /// Joins the thread: waits for one Step at most.
  void Stop();

  /// One thread at a time. A partition that doesn't answer is asked apart from then on, until it does: it
  /// must not keep the others' ages unknown. Where several don't, they are asked together and alone by turns.
  void Step();

 private:
  bool AskFor(const std::vector<int32_t>& partitions, std::chrono::milliseconds timeout);

  const Ask ask_;
  const OpenPartitions& open_;
  const Clock& clock_;
  std::set<int32_t> slow_;            // Step
  bool slow_asked_together_ = false;  // Step: last time
  int32_t last_slow_asked_ = -1;      // Step
  RepeatingThread thread_;            // ends before the rest goes
};

}  // namespace seen
