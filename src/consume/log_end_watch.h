#pragma once
// Asks the brokers again and again where the logs of the open partitions end, so that answers know their age.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"
#include "flow/open_partition.h"

namespace seen {

class LogEndWatch {
 public:
  static constexpr std::chrono::milliseconds kEvery{250};
  static constexpr std::chrono::milliseconds kQuestion{500};  // for all partitions that answer
  /// For one that doesn't answer. A broker answers the requests of a connection in their order. The request
  /// before may be a fetch that waits for records: fetch.wait.max.ms, 100 by default.
  static constexpr std::chrono::milliseconds kSlowQuestion{250};
  static constexpr std::chrono::milliseconds kSlowStep{250};  // for all of these together

  /// Asks for the ends of these partitions, with one request per broker. Returns all of them, or an error.
  using Ask = std::function<Result<std::map<int32_t, int64_t>>(std::span<const int32_t> partitions,
                                                               std::chrono::milliseconds timeout)>;

  /// Whether a check that began at `since` or later found that the partition's log is the one that was read.
  /// If none did, one begins soon.
  using IsChecked = std::function<bool(int32_t partition, Instant since)>;

  /// `open` and `clock` must outlive this object.
  LogEndWatch(Ask ask, IsChecked is_checked, const OpenPartitions& open, const Clock& clock);

  /// Calls Step every kEvery on a thread of its own. Call it once.
  void Start();
  /// Joins the thread. Waits for one Step at most.
  void Stop();

  /// One thread at a time. A partition that doesn't answer is asked separately from then on, until it
  /// answers. So it doesn't keep the others' ages unknown. If several don't answer, steps ask them together
  /// and one by one in turn.
  void Step();

 private:
  /// An answer that may be about another log, before a check that began later.
  struct Unchecked {
    std::optional<int64_t> end;  // nullopt: below what was read
    Instant asked_at;
  };
  struct Log {
    Instant asked_at;  // the last question that was answered
    std::optional<Unchecked> unchecked;
  };
  bool AskFor(const std::vector<int32_t>& partitions, std::chrono::milliseconds timeout);
  void Take(OpenPartition& open, int64_t end, bool is_cut, Instant asked_at);
  void ConfirmIfChecked(OpenPartition& open, Log& log);

  const Ask ask_;
  const IsChecked is_checked_;
  const OpenPartitions& open_;
  const Clock& clock_;
  std::map<int32_t, Log> logs_;       // used by Step: of the open partitions
  std::set<int32_t> slow_;            // used by Step
  bool slow_asked_together_ = false;  // used by Step: in the last one
  int32_t last_slow_asked_ = -1;      // used by Step
  RepeatingThread thread_;            // joined before the other members are destroyed
};

}  // namespace seen
