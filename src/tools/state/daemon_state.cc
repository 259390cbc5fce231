#include "tools/state/daemon_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "serve/answer_json.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// If the daemon reports a lag, its end of the log is at most a second old: see docs/HTTP.md, "How fresh is an
// answer". So after this time the daemon reports ends that the brokers gave after the wait began.
constexpr milliseconds kEndsAreNewerAfter{1'100};
constexpr milliseconds kDigestPolls{20};

tl::unexpected<Error> Unreadable(const nlohmann::json::exception& error) {
  return Fail(Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what()));
}

/// The end of each partition. Empty: the end of some partition isn't known.
std::map<int32_t, int64_t> EndsIn(const nlohmann::json& status) {
  std::map<int32_t, int64_t> ends;
  for (const nlohmann::json& partition : status.at("partitions")) {
    if (partition.at("lag_messages").is_null() || partition.at("high_watermark").is_null()) return {};
    ends[partition.at("partition").get<int32_t>()] = partition.at("high_watermark").get<int64_t>();
  }
  return ends;
}

/// A partition whose checkpoints are behind `ends`. Empty: there is none.
std::string WhatIsBehind(const nlohmann::json& status, const std::map<int32_t, int64_t>& ends) {
  for (const auto& [partition, end] : ends) {
    const nlohmann::json* found = nullptr;
    for (const nlohmann::json& one : status.at("partitions")) {
      if (one.at("partition").get<int32_t>() == partition) found = &one;
    }
    if (found == nullptr) return fmt::format("partition {} isn't open at this daemon any more", partition);
    const nlohmann::json& offset = found->at("checkpoint_offset");
    const int64_t at = offset.is_null() ? -1 : offset.get<int64_t>();
    // The last offset may be a transaction's end marker, which is no record to read.
    if (end > 0 && at + 1 < end)
      return fmt::format("partition {} has a checkpoint at offset {} of {}", partition, at, end);
  }
  return {};
}

Status WaitBriefly(steady_clock::time_point until, const std::string& what) {
  if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: " + what);
  if (steady_clock::now() > until) return Fail(Code::kUnavailable, "--timeout: " + what);
  std::this_thread::sleep_for(kDigestPolls);
  return {};
}

std::vector<int32_t> PartitionsOf(const nlohmann::json& status, const StateCopy* copy) {
  std::vector<int32_t> partitions;
  if (copy != nullptr) {
    for (const CopiedPartition& copied : copy->partitions) partitions.push_back(copied.partition);
    return partitions;
  }
  for (const nlohmann::json& partition : status.at("partitions"))
    partitions.push_back(partition.at("partition").get<int32_t>());
  std::sort(partitions.begin(), partitions.end());
  return partitions;
}

/// Waiting doesn't change it. The directory of a stopped daemon has the state of all other partitions.
Error RefusedPartition(const nlohmann::json& partition) {
  return {Code::kRefused,
          fmt::format("partition {} of this daemon is {}, and its state can't be read: {}. Remedy: do what "
                      "this reason says, or stop the daemon and use its directory: --dir",
                      partition.at("partition").get<int32_t>(), partition.at("state").get<std::string>(),
                      partition.value("reason", ""))};
}

/// Fails for states that waiting doesn't change.
Status CheckOpen(const nlohmann::json& status) {
  for (const nlohmann::json& partition : status.at("partitions")) {
    const auto state = partition.at("state").get<std::string>();
    if (state != "refused" && state != "stopped") continue;
    return Fail(RefusedPartition(partition));
  }
  return {};
}

Result<PartitionDigest> DigestPartition(DaemonClient& daemon, int32_t partition, TimeMs as_of,
                                        const std::string& copy, steady_clock::time_point until) {
  for (;;) {
    const auto answer = daemon.Digest(partition, as_of, copy);
    if (answer && *answer) return PartitionDigestFromJson(**answer);
    // The daemon still computes this digest, or another one.
    if (!answer && answer.error().code != Code::kUnavailable) return Fail(answer.error());
    const std::string what =
        answer ? fmt::format("the digest of partition {} is under way", partition) : answer.error().message;
    if (Status waited = WaitBriefly(until, what); !waited) return Fail(waited.error());
  }
}

StateCopy CopyFromJson(const nlohmann::json& answer) {
  StateCopy copy;
  copy.id = answer.at("copy").get<std::string>();
  copy.folder = answer.at("folder").get<std::string>();
  copy.topic = answer.at("topic").get<std::string>();
  copy.partitioner = answer.at("partitioner").get<std::string>();
  copy.partitions_total = answer.at("partitions_total").get<int32_t>();
  for (const nlohmann::json& partition : answer.at("partitions"))
    copy.partitions.push_back(
        {partition.at("partition").get<int32_t>(), partition.at("folder").get<std::string>()});
  return copy;
}

/// A backup that lacks a partition must not look like a whole one.
Status CheckWhole(const nlohmann::json& status, const StateCopy& copy) {
  for (const nlohmann::json& partition : status.at("partitions")) {
    const auto number = partition.at("partition").get<int32_t>();
    const bool is_there =
        std::any_of(copy.partitions.begin(), copy.partitions.end(),
                    [&](const CopiedPartition& copied) { return copied.partition == number; });
    if (is_there) continue;
    const std::string state = partition.value("state", "not open");
    if (state == "refused" || state == "stopped") return Fail(RefusedPartition(partition));
    return Fail(Code::kRefused,
                fmt::format("partition {} of this daemon is {} and can't be copied. Remedy: see its reason "
                            "in /v1/status, and run the command again when the partition is ready",
                            number, state));
  }
  if (!status.at("partitions_refused").empty()) {
    return Fail(Code::kRefused,
                "this daemon refuses a partition, which can't be copied. Remedy: see partitions_refused in "
                "/v1/status");
  }
  return {};
}

}  // namespace

Status WaitForCheckpoints(DaemonClient& daemon, std::chrono::seconds timeout) {
  const auto until = steady_clock::now() + timeout;
  std::this_thread::sleep_for(kEndsAreNewerAfter);
  std::map<int32_t, int64_t> ends;
  for (;;) {
    const auto status = daemon.WholeStatus();
    std::string what = status ? "" : status.error().message;
    try {
      if (Status open = status ? CheckOpen(*status) : Status(); !open) return open;
      if (status && ends.empty()) ends = EndsIn(*status);
      if (status)
        what = ends.empty() ? "the daemon doesn't know how long its topic is" : WhatIsBehind(*status, ends);
    } catch (const nlohmann::json::exception& error) {
      return Unreadable(error);
    }
    if (what.empty()) return {};
    if (Status waited = WaitBriefly(until, what); !waited) return waited;
  }
}

Result<StateReport> DigestDaemon(DaemonClient& daemon, TimeMs as_of, const StateCopy* copy,
                                 std::chrono::seconds timeout, bool quiet) {
  const auto until = steady_clock::now() + timeout;
  const auto status = daemon.WholeStatus();
  if (!status) return Fail(status.error());
  try {
    StateReport report;
    report.source = fmt::format("instance {}", status->at("instance_id").get<std::string>());
    report.topic = status->at("topic").get<std::string>();
    report.partitions_total = status->at("partitions_total").get<int32_t>();
    report.as_of = as_of;
    if (copy == nullptr) {
      if (Status open = CheckOpen(*status); !open) return Fail(open.error());
    }
    const std::vector<int32_t> partitions = PartitionsOf(*status, copy);
    if (partitions.empty()) return Fail(Code::kUnavailable, "this daemon has no partition open");
    Progress progress("digest", partitions.size(), "partitions", quiet);
    for (const int32_t partition : partitions) {
      auto digest = DigestPartition(daemon, partition, as_of, copy == nullptr ? "" : copy->id, until);
      if (!digest) return Fail(digest.error());
      report.partitions.push_back(std::move(*digest));
      progress.Update(report.partitions.size());
    }
    return report;
  } catch (const nlohmann::json::exception& error) {
    return Unreadable(error);
  }
}

Result<std::unique_ptr<HeldCopy>> HeldCopy::Make(DaemonClient& daemon, std::chrono::seconds timeout) {
  const auto until = steady_clock::now() + timeout;
  const auto status = daemon.WholeStatus();
  if (!status) return Fail(status.error());
  for (;;) {
    const auto answer = daemon.MakeCopy();
    if (!answer && answer.error().code != Code::kUnavailable) return Fail(answer.error());
    if (!answer) {
      if (Status waited = WaitBriefly(until, answer.error().message); !waited) return Fail(waited.error());
      continue;
    }
    try {
      std::unique_ptr<HeldCopy> held(new HeldCopy(daemon, CopyFromJson(*answer)));
      auto lock = FileLock::Take(held->copy_.folder + "/LOCK", false, true);
      if (!lock && lock.error().code == Code::kNotFound) {
        return Fail(Code::kRefused,
                    fmt::format("--http: the daemon's copy, {}, isn't on this machine. Remedy: run the "
                                "command on the daemon's machine, and with its paths",
                                held->copy_.folder));
      }
      if (!lock) return Fail(lock.error());
      held->lock_.emplace(std::move(*lock));
      if (Status whole = CheckWhole(*status, held->copy_); !whole) return Fail(whole.error());
      held->owner_ = {held->copy_.topic, held->copy_.partitioner, held->copy_.partitions_total,
                      status->at("instance_id").get<std::string>()};
      return held;
    } catch (const nlohmann::json::exception& error) {
      return Unreadable(error);
    }
  }
}

HeldCopy::~HeldCopy() {
  // If the daemon can't be reached, it notices by the lock.
  (void)daemon_.ReleaseCopy(copy_.id);
}

}  // namespace seen
