#include "tools/check/oracle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tools/check/user_check.h"

namespace seen {
namespace {

constexpr int64_t kToday = 20'000;  // a UTC day
constexpr TimeMs kNoon{kToday * kMsPerDay + kMsPerDay / 2};

TimeMs DaysAgo(int64_t days) { return {kNoon.value - days * kMsPerDay}; }

std::string EventOf(std::string_view user, std::string_view item, TimeMs exposed_at) {
  return fmt::format(R"({{"user_id":"{}","item_id":"{}","exposed_at":{}}})", user, item, exposed_at.value);
}

std::set<std::string> Names(const Oracle& oracle, const std::vector<uint32_t>& items) {
  std::set<std::string> names;
  for (const uint32_t item : items) names.emplace(oracle.Item(item));
  return names;
}

using NameSet = std::set<std::string>;

TEST(Oracle, KeepsWhatWasShownWithinTheWindow) {
  Oracle oracle({.window_days = 30});
  oracle.AddRecord(DaysAgo(0), EventOf("u", "today", DaysAgo(0)));
  oracle.AddRecord(DaysAgo(30), EventOf("u", "on the horizon", DaysAgo(30)));
  oracle.AddRecord(DaysAgo(31), EventOf("u", "before it", DaysAgo(31)));
  oracle.AddRecord(DaysAgo(0), EventOf("v", "another's", DaysAgo(0)));
  const SeenItems seen = oracle.Seen("u", oracle.Horizon(kNoon));
  EXPECT_EQ(Names(oracle, seen.must), (NameSet{"today", "on the horizon"}));
  EXPECT_TRUE(seen.may.empty());
  EXPECT_TRUE(oracle.Seen("nobody", oracle.Horizon(kNoon)).must.empty());
}

TEST(Oracle, AnItemShownAgainCountsFromItsNewestDay) {
  Oracle oracle({.window_days = 30});
  oracle.AddRecord(DaysAgo(40), EventOf("u", "n", DaysAgo(40)));
  oracle.AddRecord(DaysAgo(1), EventOf("u", "n", DaysAgo(1)));
  EXPECT_EQ(Names(oracle, oracle.Seen("u", oracle.Horizon(kNoon)).must), (NameSet{"n"}));
}

TEST(Oracle, JudgesAgeByTheRecordsOwnTime) {
  Oracle oracle({.window_days = 30});
  oracle.AddRecord(DaysAgo(100), EventOf("u", "replayed", DaysAgo(110)));
  oracle.AddRecord(DaysAgo(0), EventOf("u", "too old when it came", DaysAgo(31)));
  EXPECT_EQ(oracle.counts().too_old, 1u);
  EXPECT_EQ(oracle.counts().exposures, 1u);
  // Were the window longer, the daemon might or might not have kept it.
  const SeenItems seen = oracle.Seen("u", DayOf(DaysAgo(40)));
  EXPECT_TRUE(seen.must.empty());
  EXPECT_EQ(Names(oracle, seen.may), (NameSet{"too old when it came"}));
}

std::string KindOf(std::string_view kind, std::string_view user, std::string_view item, TimeMs at) {
  const std::string about = item.empty() ? "" : fmt::format(R"("item_id":"{}",)", item);
  return fmt::format(R"({{"user_id":"{}",{}"kind":"{}","exposed_at":{}}})", user, about, kind, at.value);
}

TEST(Oracle, FollowsRemovalsAndErasures) {
  Oracle oracle({.window_days = 30});
  const auto add = [&](const std::string& value) { oracle.AddRecord(DaysAgo(0), value); };
  add(EventOf("u", "a", DaysAgo(1)));
  add(EventOf("u", "b", DaysAgo(0)));
  add(KindOf("removed", "u", "a", DaysAgo(0)));
  add(KindOf("removed", "u", "b", DaysAgo(1)));  // shown after it
  add(EventOf("u", "a", DaysAgo(2)));            // late
  add(KindOf("served", "u", "c", DaysAgo(0)));
  EXPECT_EQ(Names(oracle, oracle.Seen("u", oracle.Horizon(kNoon)).must), (NameSet{"b"}));
  EXPECT_EQ(Names(oracle, oracle.Seen("u", oracle.Horizon(kNoon)).may), (NameSet{"c"}));
  add(EventOf("u", "a", DaysAgo(0)));  // the same day, later in the log
  EXPECT_EQ(Names(oracle, oracle.Seen("u", oracle.Horizon(kNoon)).must), (NameSet{"a", "b"}));
  add(KindOf("erased", "u", "", DaysAgo(0)));
  add(EventOf("u", "d", DaysAgo(1)));
  add(EventOf("u", "e", DaysAgo(0)));
  EXPECT_EQ(Names(oracle, oracle.Seen("u", oracle.Horizon(kNoon)).must), (NameSet{"e"}));
  EXPECT_TRUE(oracle.Seen("u", oracle.Horizon(kNoon)).may.empty());
}

TEST(Oracle, LeavesOutWhatTheDaemonDeadLetters) {
  Oracle oracle({.future_skew_s_max = 300, .event_bytes_max = 200});
  const struct {
    const char* what;
    std::string value;
    bool is_null = false;
  } cases[] = {
      {"a null value", "", true},
      {"not JSON", "{"},
      {"no user", R"({"item_id":"n","exposed_at":1763700000000})"},
      {"an empty item", EventOf("u", "", kNoon)},
      {"too far ahead of its record", EventOf("u", "n", {kNoon.value + 300'001})},
      {"over the size limit", EventOf("u", std::string(300, 'n'), kNoon)},
  };
  uint64_t malformed = 0;
  for (const auto& c : cases) {
    oracle.AddRecord(kNoon, c.value, c.is_null);
    EXPECT_EQ(oracle.counts().malformed, ++malformed) << c.what;
  }
  oracle.AddRecord(kNoon, EventOf("u", "ahead, but not too far", {kNoon.value + 300'000}));
  EXPECT_EQ(oracle.counts().malformed, malformed);
  EXPECT_EQ(oracle.counts().exposures, 1u);
  EXPECT_EQ(oracle.Users(), std::vector<std::string_view>{"u"});
}

TEST(Oracle, TakesEveryItemOfABatchEvent) {
  Oracle oracle({});
  oracle.AddRecord(kNoon, fmt::format(R"({{"user_id":7,"exposed_at":{},"items":["a",{{"item_id":8}},"a"]}})",
                                      kNoon.value));
  EXPECT_EQ(Names(oracle, oracle.Seen("7", oracle.Horizon(kNoon)).must), (NameSet{"a", "8"}));
}

TEST(Oracle, BeyondItemsMaxOnlyTheNewestDaysThatFitMustBeSeen) {
  Oracle oracle({.items_max = 5});
  for (int i = 0; i < 3; ++i) oracle.AddRecord(kNoon, EventOf("u", fmt::format("new{}", i), DaysAgo(0)));
  for (int i = 0; i < 4; ++i) oracle.AddRecord(kNoon, EventOf("u", fmt::format("mid{}", i), DaysAgo(1)));
  oracle.AddRecord(kNoon, EventOf("u", "new0", DaysAgo(1)));  // again: takes no place twice
  oracle.AddRecord(kNoon, EventOf("u", "old", DaysAgo(2)));
  const SeenItems seen = oracle.Seen("u", oracle.Horizon(kNoon));
  EXPECT_EQ(Names(oracle, seen.must), (NameSet{"new0", "new1", "new2"}));
  EXPECT_EQ(Names(oracle, seen.may), (NameSet{"mid0", "mid1", "mid2", "mid3", "old"}));
}

TEST(Oracle, WhatFitsItemsMaxExactlyMustBeSeen) {
  Oracle oracle({.items_max = 4});
  for (int i = 0; i < 4; ++i) oracle.AddRecord(kNoon, EventOf("u", fmt::format("n{}", i), DaysAgo(i / 2)));
  EXPECT_EQ(oracle.Seen("u", oracle.Horizon(kNoon)).must.size(), 4u);
}

TEST(Oracle, BeyondItemsPerDayMaxTheSmallestFingerprintsMustBeSeen) {
  Oracle oracle({.items_per_day_max = 10});
  std::vector<Fingerprint> fingerprints;
  for (int i = 0; i < 50; ++i) {
    const std::string item = fmt::format("n{}", i);
    oracle.AddRecord(kNoon, EventOf("u", item, DaysAgo(0)));
    fingerprints.push_back(FingerprintOf(item));
  }
  std::sort(fingerprints.begin(), fingerprints.end());
  const SeenItems seen = oracle.Seen("u", oracle.Horizon(kNoon));
  ASSERT_EQ(seen.must.size(), 10u);
  for (const uint32_t item : seen.must) EXPECT_LE(oracle.ItemFingerprint(item), fingerprints[9]);
  EXPECT_EQ(seen.may.size(), 40u);
}

TEST(Oracle, ForgetsNothingWhileItCompacts) {
  Oracle oracle({});
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2000; ++i)
      oracle.AddRecord(kNoon, EventOf("u", fmt::format("n{}", i % 700), DaysAgo(i % 3)));
  }
  EXPECT_EQ(oracle.Seen("u", oracle.Horizon(kNoon)).must.size(), 700u);
  EXPECT_EQ(oracle.ExposuresOf("u"), 6000u);
}

TEST(Oracle, KnowsTheBusiestUser) {
  Oracle oracle({});
  EXPECT_EQ(oracle.BusiestUser(), "");
  for (const char* user : {"b", "a", "c", "b", "a"}) oracle.AddRecord(kNoon, EventOf(user, "n", kNoon));
  EXPECT_EQ(oracle.BusiestUser(), "a") << "among equals the first in byte order";
}

TEST(NegativesFor, AreNeverItemsOfTheUserAndAlwaysTheSame) {
  Oracle oracle({});
  for (int i = 0; i < 100; ++i)
    oracle.AddRecord(kNoon, EventOf(i % 2 == 0 ? "u" : "v", fmt::format("n{}", i), kNoon));
  const SeenItems seen = oracle.Seen("u", oracle.Horizon(kNoon));
  const auto own = Names(oracle, seen.must);
  const auto negatives = NegativesFor(oracle, "u", seen, 40);
  EXPECT_EQ(negatives, NegativesFor(oracle, "u", seen, 40));
  EXPECT_EQ(std::set<std::string>(negatives.begin(), negatives.end()).size(), 40u);
  size_t of_others = 0;
  for (const std::string& item : negatives) {
    EXPECT_FALSE(own.contains(item)) << item;
    of_others += item.starts_with('n') && !item.starts_with("never-sent") ? 1u : 0u;
  }
  EXPECT_EQ(of_others, 20u);
}

}  // namespace
}  // namespace seen
