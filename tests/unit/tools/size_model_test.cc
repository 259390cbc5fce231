// Compares the model of docs/SCALE.md with two runs of the scenario at_size. One run calibrated the model,
// the other didn't.
#include "tools/commands/size_model.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

constexpr double kMiB = 1024 * 1024;
constexpr UserBytes kUser{10'500, 4'018};

/// A platform with `events_a_second` at the peak. Each event of its users is published.
Platform At(double users, double events_a_second, double memory_mib) {
  Platform platform;
  platform.users = users;
  platform.items_a_day = events_a_second * 86'400 / users;
  platform.peak = 1;
  platform.partitions = 12;
  platform.memory_bytes = memory_mib * kMiB;
  return platform;
}

TEST(SizeModel, AgreesWithTheRunThatDidNotCalibrateIt) {
  // 450 M items, 128 MiB: 6,417 snapshots/s with 1.08 cores at 20,000 events/s (docs/LEVERS.md, What
  // gained).
  const Needs needs = NeedsOf(At(150'000, 20'000, 128), kUser);
  const double cores = needs.intake_cores + needs.publish_cores * 6'417 / needs.snapshots_a_second;
  EXPECT_NEAR(cores, 1.08, 0.11);
  EXPECT_NEAR(needs.state_bytes, 1.577e9, 0.02e9);
}

TEST(SizeModel, GivesEachEventASnapshotUnlessTheDebounceIsLonger) {
  Platform platform = At(2'000'000, 50'000, 1024);
  EXPECT_DOUBLE_EQ(NeedsOf(platform, kUser).snapshots_a_second, 50'000);
  platform.debounce_s = 60;
  EXPECT_DOUBLE_EQ(NeedsOf(platform, kUser).snapshots_a_second, 2'500 * 6);
  platform.debounce_s = 3'600;
  EXPECT_DOUBLE_EQ(NeedsOf(platform, kUser).snapshots_a_second, 2'500 * 2);
}

TEST(SizeModel, WithUpdatesAUserIsPublishedOnceInARefresh) {
  Platform platform = At(10'000'000, 50'000, 1024);
  platform.refresh_s = 1'800;
  const Needs needs = NeedsOf(platform, kUser);
  EXPECT_DOUBLE_EQ(needs.users_in_session, 2'500 * (300 + 1'800));
  EXPECT_NEAR(needs.snapshots_a_second, 2'917, 1);
  EXPECT_DOUBLE_EQ(needs.update_bytes_a_second, 50'000 * 14);
  EXPECT_EQ(needs.followed_bytes, 0) << "nobody is followed while waiting";
  platform.session_items = 1;
  EXPECT_DOUBLE_EQ(NeedsOf(platform, kUser).snapshots_a_second, 10'000'000.0 / 1'800) << "everybody, once";
}

TEST(SizeModel, ReadsNothingWhereAllUsersInSessionAreInMemory) {
  const Needs small = NeedsOf(At(2'000, 100, 1024), kUser);
  EXPECT_EQ(small.cold_share, 0);
  EXPECT_EQ(small.disk_reads_a_second, 0);
  EXPECT_GT(NeedsOf(At(2'000'000, 50'000, 1024), kUser).cold_share, 0.9);
}

TEST(SizeModel, RewritesMoreTheMoreThereIs) {
  const double small = NeedsOf(At(100'000, 1'000, 1024), kUser).write_amplification;
  const double large = NeedsOf(At(10'000'000, 1'000, 1024), kUser).write_amplification;
  EXPECT_GT(large, small + 1);
  EXPECT_LT(large, 12);
}

}  // namespace
}  // namespace seen
