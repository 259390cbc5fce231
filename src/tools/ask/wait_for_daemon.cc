#include "tools/ask/wait_for_daemon.h"

#include <fmt/format.h>

#include <string>
#include <thread>

#include "base/clock.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

/// What the daemon still lacks. Empty: nothing.
std::string WhatIsMissing(const DaemonSummary& status, const std::map<int32_t, int64_t>& ends,
                          bool published) {
  if (!status.ready) return fmt::format("the daemon is not ready: {}", status.not_ready_reason);
  if (!status.watermarks_known) return "the daemon doesn't know yet how long its topic is";
  if (status.lag_messages > 0)
    return fmt::format("its lag is {} messages", WithThousands(status.lag_messages));
  for (const auto& [partition, end] : ends) {
    const auto number = static_cast<size_t>(partition);
    // A lag of 0 may refer to an older end than `ends`. The last offset may be a transaction's end marker,
    // which is no record to read: so one offset may be missing.
    if (number < status.next_offsets.size() && status.next_offsets[number] + 1 < end)
      return fmt::format("partition {} is at offset {} of {}", partition, status.next_offsets[number], end);
  }
  if (published && status.marks_outstanding > 0)
    return fmt::format("{} snapshots are unacknowledged", WithThousands(status.marks_outstanding));
  return {};
}

std::string WhatIsToBeRekeyed(const DaemonSummary& status, const std::map<int32_t, int64_t>& ends) {
  for (const auto& [partition, end] : ends) {
    const auto at = status.rekeyed_offsets.find(partition);
    const int64_t offset = at == status.rekeyed_offsets.end() ? -1 : at->second;
    if (end > 0 && offset < end)
      return fmt::format("partition {} is re-keyed up to offset {} of {}", partition, offset, end);
  }
  return {};
}

/// `missing_of`: returns what the daemon still lacks, from its status. Empty: nothing.
template <typename Missing>
Status WaitFor(DaemonClient& daemon, Missing missing_of, std::chrono::duration<double> timeout, bool quiet) {
  Progress progress("wait", 0, "looks", quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  const Instant start = SystemClock().Now();
  for (uint64_t looks = 1;; ++looks) {
    const auto status = daemon.Status();
    const std::string missing = status ? missing_of(*status) : status.error().message;
    if (missing.empty()) return {};
    progress.Update(looks, missing);
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted while waiting: " + missing);
    if (SystemClock().Now() - start > timeout) {
      return Fail(Code::kUnavailable, fmt::format("after {:.0f} s: {}", timeout.count(), missing));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

Status WaitUntilCaughtUp(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends, bool published,
                         std::chrono::duration<double> timeout, bool quiet) {
  return WaitFor(
      daemon, [&](const DaemonSummary& status) { return WhatIsMissing(status, ends, published); }, timeout,
      quiet);
}

Status WaitUntilRekeyed(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends,
                        std::chrono::duration<double> timeout, bool quiet) {
  return WaitFor(
      daemon, [&](const DaemonSummary& status) { return WhatIsToBeRekeyed(status, ends); }, timeout, quiet);
}

}  // namespace seen
