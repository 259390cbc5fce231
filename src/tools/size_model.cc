#include "tools/size_model.h"

#include <algorithm>
#include <cmath>

#include "flow/publish_table.h"

namespace seen {
namespace {

constexpr double kSecondsADay = 86'400;
// During a compaction of a level, the new files stand beside the old ones.
constexpr double kDiskShare = 2;

// Processor time in seconds of one core. docs/SCALE.md gives the source of each constant.
constexpr double kEventS = 4.4e-6;        // a live event: decoded, checkpointed, compacted
constexpr double kSnapshotS = 3.3e-6;     // for a user in memory
constexpr double kColdSnapshotS = 30e-6;  // in addition, for a user on the disk
constexpr double kColdByteS = 0.0117e-6;  // in addition, for each byte of that user's row
constexpr double kQueryS = 75e-6;

constexpr double kReadsAColdUser = 1.04;
constexpr double kReadBytesByRow = 1.02;
constexpr double kChangeBytes = 40;  // a user's row in a checkpoint, at one event every few seconds
constexpr double kLevelBytes = 32.0 * 1024 * 1024;  // size of the first level: rocks/resources.cc
// Shares of store.memory_mib, as in app/memory_budget.h: the caches of users read lately; followed users.
constexpr double kCachedShare = 0.25;
constexpr double kFollowedShare = 0.10;

/// Each level is ten times as large as the one before. Each level rewrites a row some times.
double WriteAmplification(double partition_bytes) {
  const double levels = std::max(0.0, std::log10(std::max(1.0, partition_bytes / kLevelBytes)));
  return 1.5 + 0.7 * levels;
}

}  // namespace

Needs NeedsOf(const Platform& platform, const UserBytes& user) {
  Needs needs;
  needs.events_a_second_on_average = platform.users * platform.items_a_day / kSecondsADay;
  needs.events_a_second = needs.events_a_second_on_average * platform.peak;
  const double sessions_a_second = needs.events_a_second / platform.session_items;
  const double gap_s = platform.session_s / platform.session_items;
  const double snapshots_a_session =
      platform.debounce_s <= gap_s
          ? platform.session_items
          : std::min(platform.session_items, 1 + std::ceil(platform.session_s / platform.debounce_s));
  needs.snapshots_a_second = sessions_a_second * snapshots_a_session;
  needs.users_in_session =
      std::min(platform.users, sessions_a_second * (platform.session_s + platform.debounce_s));
  needs.followed_bytes =
      needs.users_in_session * static_cast<double>(PublishTable::kBytesAnEntry) / kFollowedShare;
  needs.cold_share = std::clamp(
      1 - platform.memory_bytes * kCachedShare / std::max(1.0, needs.users_in_session * user.state), 0.0,
      1.0);

  const double cold = needs.snapshots_a_second * needs.cold_share;
  needs.intake_cores = needs.events_a_second * kEventS;
  needs.publish_cores =
      needs.snapshots_a_second * kSnapshotS + cold * (kColdSnapshotS + kColdByteS * user.state);
  needs.query_cores = platform.queries_a_second * kQueryS;

  needs.state_bytes = platform.users * user.state;
  needs.disk_bytes = needs.state_bytes * kDiskShare;
  needs.disk_reads_a_second = cold * kReadsAColdUser;
  needs.disk_read_bytes_a_second = cold * user.state * kReadBytesByRow;
  needs.write_amplification = WriteAmplification(needs.state_bytes / platform.partitions);
  needs.disk_write_bytes_a_second = needs.events_a_second * kChangeBytes * needs.write_amplification;

  needs.input_bytes_a_second = needs.events_a_second * platform.event_bytes;
  needs.snapshot_bytes_a_second = needs.snapshots_a_second * user.snapshot;
  needs.snapshot_topic_bytes = platform.users * user.snapshot;
  return needs;
}

}  // namespace seen
