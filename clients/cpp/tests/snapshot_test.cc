#include "seen/snapshot.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <unordered_map>

#include "encoders.h"

namespace seen::client {
namespace {

using Strings = std::vector<std::string>;

Snapshot Parsed100(std::uint32_t item_count = 100, double rate = 0.01) {
  test::Header header;
  header.item_count = item_count;
  header.false_positive_rate = rate;
  const auto snapshot = Snapshot::ParseCopy(test::Envelope(
      Format::kFingerprints, test::FingerprintsPayload(test::Numbered("item-", 100), 25), header));
  EXPECT_TRUE(snapshot);
  return *snapshot;
}

TEST(Snapshot, GivesItsMetadataAsTimes) {
  const Snapshot snapshot = Parsed100();
  EXPECT_EQ(snapshot.item_count(), 100U);
  EXPECT_EQ(snapshot.as_of().time_since_epoch(), std::chrono::milliseconds(1763700000123));
  EXPECT_EQ(snapshot.horizon().time_since_epoch(), std::chrono::hours(24 * 20383));
  EXPECT_EQ(snapshot.partition(), 3);
  EXPECT_EQ(snapshot.input_offset(), 123456789);
  EXPECT_EQ(snapshot.false_positive_rate(), 0.01);
  EXPECT_EQ(snapshot.bytes().substr(0, 4), "SEEN");
}

TEST(Snapshot, AViewPointsIntoTheBytesAndACopyDoesNot) {
  std::string bytes = test::SnapshotOf(Format::kBloom, test::Numbered("item-", 10));
  const auto view = Snapshot::Parse(bytes);
  auto copy = Snapshot::ParseCopy(bytes);
  EXPECT_EQ(view->bytes().data(), bytes.data());
  const Snapshot moved = *std::move(copy);
  const Snapshot second = moved;  // NOLINT: a copy is what is tested
  bytes.assign(bytes.size(), 'x');
  EXPECT_TRUE(moved.MightContain("item-3") && second.MightContain("item-3"));
}

TEST(Snapshot, AnIntegerIdIsItsDecimalString) {
  const test::Items items = {FingerprintOf("42"), FingerprintOf("-7"), FingerprintOf("18446744073709551615")};
  const auto snapshot = Snapshot::ParseCopy(test::SnapshotOf(Format::kFingerprints, items));
  ASSERT_TRUE(snapshot);
  EXPECT_TRUE(snapshot->MightContain(42) && snapshot->MightContain("42") && snapshot->MightContain(-7));
  EXPECT_TRUE(snapshot->MightContain(~std::uint64_t{0}));
  EXPECT_FALSE(snapshot->MightContain(7) || snapshot->MightContain("042"));
  EXPECT_EQ(snapshot->Unseen(std::vector<std::int64_t>{1, -7, 2, 42, 1}), (std::vector<std::int64_t>{1, 2}));
}

TEST(Snapshot, UnseenKeepsTheOrderAndNamesEachOnce) {
  const Snapshot snapshot = Parsed100();
  EXPECT_EQ(snapshot.Unseen(Strings{"b", "item-7", "a", "b", "item-1", "c", "a"}), (Strings{"b", "a", "c"}));
  EXPECT_EQ(snapshot.Unseen(Strings{}), Strings{});
  const std::array<std::string_view, 3> views = {"b", "item-7", "b"};
  EXPECT_EQ(snapshot.Unseen(views), std::vector<std::string_view>{"b"});
  Strings many, others;
  for (int i = 0; i < 20000; ++i) many.push_back("item-" + std::to_string(i % 5000));
  for (int i = 100; i < 5000; ++i) others.push_back("item-" + std::to_string(i));
  EXPECT_EQ(snapshot.Unseen(many), others);
}

TEST(Snapshot, UnseenTellsIdsOfOneFingerprintApart) {
  const Strings both = {"c1803", "c88507"};
  ASSERT_EQ(FingerprintOf(both[0]), FingerprintOf(both[1]));
  EXPECT_EQ(Snapshot::Empty().Unseen(both), both);
  AlsoSeen also_seen(Strings{both[0]});
  EXPECT_EQ(Snapshot::Empty().Unseen(both, also_seen), Strings{both[1]});
  EXPECT_TRUE(also_seen.Contains(both[0]) && !also_seen.Contains(both[1]));
  also_seen.Add(both[1]);
  EXPECT_EQ(also_seen.size(), 2U);
  EXPECT_EQ(Snapshot::Empty().RecallSize(1, also_seen), 2 + 1U);
}

TEST(Snapshot, AlsoSeenCountsBesides) {
  AlsoSeen also_seen(Strings{"a", "a"});
  also_seen.Add(7);
  EXPECT_EQ(also_seen.size(), 2U);
  EXPECT_EQ(Parsed100().Unseen(Strings{"b", "a", "7", "item-1", "b"}, also_seen), Strings{"b"});
  EXPECT_EQ(Snapshot::Empty().Unseen(Strings{"b", "a", "b", "c"}, also_seen), (Strings{"b", "c"}));
  EXPECT_EQ(Snapshot::Empty().Unseen(std::vector<int>{6, 7, 8}, also_seen), (std::vector<int>{6, 8}));
  const std::vector<Candidate> candidates = {{"a", {}}, {"b", {}}};
  ASSERT_EQ(Snapshot::Empty().Unseen(candidates, also_seen).size(), 1U);
}

TEST(Snapshot, RecallSizeAllowsForWhatIsDropped) {
  EXPECT_EQ(Parsed100().RecallSize(0), 0U);
  EXPECT_EQ(Parsed100().RecallSize(1), 100 + 2U);      // (1 + 0.3) / 0.99
  EXPECT_EQ(Parsed100().RecallSize(100), 100 + 105U);  // (100 + 3) / 0.99 = 104.04
  EXPECT_EQ(Parsed100(2).RecallSize(100), 2 + 105U);
  EXPECT_EQ(Parsed100(200, 0.5).RecallSize(2), 200 + 10U);  // (2 + 3) / 0.5
  EXPECT_EQ(Parsed100().RecallSize(100, AlsoSeen{"a", "item-1", "b", "a"}), 102 + 105U)
      << "what the snapshot holds isn't counted twice";
  EXPECT_EQ(Parsed100().RecallSize(~std::uint64_t{0}), ~std::uint64_t{0});
}

TEST(Snapshot, EmptyHoldsNothing) {
  const Snapshot empty = Snapshot::Empty();
  EXPECT_EQ(empty.item_count(), 0U);
  EXPECT_FALSE(empty.MightContain("a") || empty.MightContain(0));
  EXPECT_EQ(empty.RecallSize(100), 100U);
  EXPECT_TRUE(empty.bytes().empty());
  EXPECT_TRUE(empty.Details("a").empty());
}

}  // namespace
}  // namespace seen::client
