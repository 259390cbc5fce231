#include <gtest/gtest.h>

#include <vector>

#include "filter/snapshot.h"
#include "flow/reporter.h"

namespace seen {
namespace {

std::string SnapshotOf(uint32_t items, double rate) {
  std::vector<Fingerprint> fingerprints;
  for (uint32_t i = 0; i < items; ++i) fingerprints.push_back({i * 2'654'435'761U});
  SnapshotMeta meta;
  meta.false_positive_rate = rate;
  return RenderSnapshot(meta, fingerprints);
}

TEST(SnapshotSample, FindsTheRateThatWasAskedFor) {
  const std::string snapshot = SnapshotOf(3'000, 0.01);
  SnapshotSample sample;
  ProbeCounts all;
  for (int i = 0; i < 100'000; ++i) {
    const ProbeCounts counts = sample.Add(snapshot);
    all.probes += counts.probes;
    all.false_positives += counts.false_positives;
  }
  EXPECT_EQ(all.probes, 100'000 / SnapshotSample::kEvery * SnapshotSample::kProbes);
  const double rate = static_cast<double>(all.false_positives) / static_cast<double>(all.probes);
  EXPECT_GT(rate, 0.005);
  EXPECT_LT(rate, 0.015);
}

TEST(SnapshotSample, TakesTheFirstAndLeavesOutWhatIsNoSnapshot) {
  SnapshotSample sample;
  EXPECT_EQ(sample.Add("").probes, 0U) << "a tombstone";
  EXPECT_EQ(sample.Add(SnapshotOf(10, 0.01)).probes, SnapshotSample::kProbes);
  EXPECT_EQ(sample.Add(SnapshotOf(10, 0.01)).probes, 0U) << "one of many is enough";
  EXPECT_EQ(SnapshotSample().Add("something else").probes, 0U);
}

}  // namespace
}  // namespace seen
