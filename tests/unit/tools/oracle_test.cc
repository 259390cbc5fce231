#include "tools/check/oracle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "tools/check/user_check.h"

namespace seen {
namespace {

constexpr int64_t kToday = 20'000;  // days since 1970, UTC
constexpr TimeMs kNoon{kToday * kMsPerDay + kMsPerDay / 2};

TimeMs DaysAgo(int64_t days) { return {kNoon.value - days * kMsPerDay}; }

std::string EventOf(std::string_view user, std::string_view item, TimeMs exposed_at) {
  return fmt::format(R"({{"user_id":"{}","item_id":"{}","exposed_at":{}}})", user, item, exposed_at.value);
}
std::string KindOf(std::string_view kind, std::string_view user, std::string_view item, TimeMs at) {
  const std::string about = item.empty() ? "" : fmt::format(R"("item_id":"{}",)", item);
  return fmt::format(R"({{"user_id":"{}",{}"kind":"{}","exposed_at":{}}})", user, about, kind, at.value);
}

using NameSet = std::set<std::string>;

/// An oracle of one filter, and the judge that decides what the oracle gets from each record.
class Told {
 public:
  explicit Told(const FilterRules& filter = {}, const OracleRules& rules = {})
      : rules_(With(rules, filter)), judge_(rules_), oracle_(rules_) {}
  void AddRecord(TimeMs timestamp, std::string_view value, bool value_is_null = false, int16_t source = 0) {
    Record record;
    record.timestamp = timestamp;
    record.value = value;
    record.value_is_null = value_is_null;
    if (const auto told = judge_.Read(record, source)) oracle_.Add(*told);
  }
  /// The items seen at `now`, with a margin for differences between clocks.
  SeenItems Seen(std::string_view user = "u", TimeMs now = kNoon) const {
    return oracle_.Seen(user, Moment::At(now));
  }
  NameSet Must(std::string_view user = "u", TimeMs now = kNoon) const { return Names(Seen(user, now).must); }
  NameSet May(std::string_view user = "u", TimeMs now = kNoon) const { return Names(Seen(user, now).may); }
  NameSet Names(const std::vector<uint32_t>& items) const {
    NameSet names;
    for (const uint32_t item : items) names.emplace(oracle_.Item(item));
    return names;
  }
  const OracleCounts& counts() const { return judge_.counts(); }
  const EventJudge& judge() const { return judge_; }
  const Oracle& oracle() const { return oracle_; }

 private:
  static OracleRules With(OracleRules rules, const FilterRules& filter) {
    rules.filters = {filter};
    return rules;
  }
  const OracleRules rules_;
  EventJudge judge_;
  Oracle oracle_;
};

TEST(Oracle, KeepsWhatWasShownWithinTheWindow) {
  Told told({.window_days = 30});
  told.AddRecord(DaysAgo(0), EventOf("u", "today", DaysAgo(0)));
  told.AddRecord(DaysAgo(30), EventOf("u", "on the horizon", DaysAgo(30)));
  told.AddRecord(DaysAgo(31), EventOf("u", "before it", DaysAgo(31)));
  told.AddRecord(DaysAgo(0), EventOf("v", "another's", DaysAgo(0)));
  const SeenItems seen = told.Seen();
  EXPECT_EQ(told.Names(seen.must), (NameSet{"today", "on the horizon"}));
  EXPECT_TRUE(seen.may.empty());
  EXPECT_EQ(told.Names(seen.not_seen), (NameSet{"before it"}));
  EXPECT_EQ(seen.left_window, 1u);
  EXPECT_TRUE(told.Must("nobody").empty());
}

TEST(Oracle, AnItemShownAgainCountsFromItsNewestDay) {
  Told told({.window_days = 30});
  told.AddRecord(DaysAgo(40), EventOf("u", "n", DaysAgo(40)));
  told.AddRecord(DaysAgo(1), EventOf("u", "n", DaysAgo(1)));
  EXPECT_EQ(told.Must(), (NameSet{"n"}));
}

TEST(Oracle, JudgesAgeByTheRecordsOwnTime) {
  Told told({.window_days = 30});
  told.AddRecord(DaysAgo(100), EventOf("u", "replayed", DaysAgo(110)));
  told.AddRecord(DaysAgo(0), EventOf("u", "too old when it came", DaysAgo(31)));
  EXPECT_EQ(told.counts().too_old, 1u);
  EXPECT_EQ(told.counts().exposures, 1u);
  EXPECT_EQ(told.judge().too_old(), (std::vector<uint64_t>{1}));
  // The daemon dropped the event for good. An earlier time doesn't bring the event back.
  const SeenItems seen = told.Seen("u", DaysAgo(5));
  EXPECT_TRUE(seen.must.empty() && seen.may.empty());
}

TEST(Oracle, FollowsRemovalsAndErasures) {
  Told told({.window_days = 30});
  const auto add = [&](const std::string& value) { told.AddRecord(DaysAgo(0), value); };
  add(EventOf("u", "a", DaysAgo(1)));
  add(EventOf("u", "b", DaysAgo(0)));
  add(KindOf("removed", "u", "a", DaysAgo(0)));
  add(KindOf("removed", "u", "b", DaysAgo(1)));  // b was shown after this removal
  add(EventOf("u", "a", DaysAgo(2)));            // a late event, older than the removal
  add(KindOf("served", "u", "c", DaysAgo(0)));
  EXPECT_EQ(told.Must(), (NameSet{"b"}));
  EXPECT_EQ(told.May(), (NameSet{"c"})) << "nobody said how long served items count";
  EXPECT_EQ(told.Seen().taken_back, 1u);
  add(EventOf("u", "a", DaysAgo(0)));  // the day of the removal, but later in the log
  EXPECT_EQ(told.Must(), (NameSet{"a", "b"}));
  add(KindOf("erased", "u", "", DaysAgo(0)));
  add(EventOf("u", "d", DaysAgo(1)));
  add(EventOf("u", "e", DaysAgo(0)));
  EXPECT_EQ(told.Must(), (NameSet{"e"}));
  EXPECT_TRUE(told.May().empty());
}

TEST(Oracle, DoesNotKnowTheOrderOfSeveralPartitionsWithinADay) {
  Told told;
  told.AddRecord(kNoon, KindOf("removed", "u", "same day", DaysAgo(0)), false, 1);
  told.AddRecord(kNoon, EventOf("u", "same day", DaysAgo(0)), false, 2);
  told.AddRecord(kNoon, KindOf("removed", "u", "later day", DaysAgo(1)), false, 1);
  told.AddRecord(kNoon, EventOf("u", "later day", DaysAgo(0)), false, 2);
  told.AddRecord(kNoon, EventOf("u", "earlier day", DaysAgo(2)), false, 2);
  told.AddRecord(kNoon, KindOf("removed", "u", "earlier day", DaysAgo(1)), false, 1);
  EXPECT_EQ(told.Must(), (NameSet{"later day"}));
  EXPECT_EQ(told.May(), (NameSet{"same day"}));
}

TEST(Oracle, CountsServedItemsByBucketsOfASixth) {
  Told told({.served_ttl_s = 600});  // buckets of 100 s
  const auto at = [&](int64_t second) { return TimeMs{kNoon.value + second * 1000}; };
  ASSERT_EQ(kNoon.value % 100'000, 0);
  told.AddRecord(at(30), KindOf("served", "u", "n", at(30)));  // counts until second 100 + 600
  const struct {
    int64_t second;
    bool must, may;
  } cases[] = {
      {30, true, false}, {690, true, false}, {699, false, true}, {701, false, true}, {703, false, false}};
  for (const auto& c : cases) {
    EXPECT_EQ(told.Must("u", at(c.second)).contains("n"), c.must) << c.second;
    EXPECT_EQ(told.May("u", at(c.second)).contains("n"), c.may) << c.second;
  }
  EXPECT_EQ(told.Seen().served_ends, (std::vector<uint32_t>{static_cast<uint32_t>(at(700).value / 1000)}));
  told.AddRecord(at(800), KindOf("served", "u", "too late", at(30)));
  EXPECT_EQ(told.judge().too_old(), (std::vector<uint64_t>{1}));
  told.AddRecord(at(40), EventOf("u", "n", at(40)));
  EXPECT_TRUE(told.Must("u", at(5000)).contains("n")) << "an exposure counts by itself";
}

TEST(Oracle, CountsAnItemFromItsKthExposureOn) {
  Told told({.window_days = 30, .exposures_min = 3});
  const auto shown = [&](std::string_view item, std::initializer_list<int64_t> days_ago,
                         int64_t step_ms = 1000) {
    int64_t step = 0;
    for (const int64_t days : days_ago)
      told.AddRecord(kNoon, EventOf("u", item, {DaysAgo(days).value + step_ms * step++}));
  };
  shown("thrice in a day", {1, 1, 1});
  shown("thrice in days", {1, 2, 3});
  shown("twice", {1, 2});
  shown("in one second", {1, 1, 1}, 300);
  EXPECT_EQ(told.Must(), (NameSet{"thrice in a day", "thrice in days"}));
  EXPECT_TRUE(told.May().empty());
  EXPECT_EQ(told.Seen().too_few_exposures, 2u);
  // By then, the third exposure has left the window.
  EXPECT_EQ(told.Must("u", {kNoon.value + 28 * kMsPerDay}), (NameSet{"thrice in a day"}));
  EXPECT_EQ(told.Seen("u", {kNoon.value + 40 * kMsPerDay}).left_window, 4u);
}

TEST(Oracle, CountsNoMoreThan64ExposuresOfADay) {
  Told told({.exposures_min = 65});
  for (int i = 0; i < 100; ++i) told.AddRecord(kNoon, EventOf("u", "n", {kNoon.value + i * 1000}));
  EXPECT_TRUE(told.Must().empty());
  told.AddRecord(kNoon, EventOf("u", "n", DaysAgo(1)));
  EXPECT_EQ(told.Must(), (NameSet{"n"}));
}

TEST(Oracle, LetsAnItemComeBackAfterTheCoolDown) {
  for (const uint32_t exposures_min : {1u, 2u}) {
    Told told({.window_days = 30, .exposures_min = exposures_min, .cooldown_days = 3});
    for (const int64_t days : {5, 4}) told.AddRecord(kNoon, EventOf("u", "cooled", DaysAgo(days)));
    for (const int64_t days : {5, 3}) told.AddRecord(kNoon, EventOf("u", "warm", DaysAgo(days)));
    EXPECT_EQ(told.Must(), (NameSet{"warm"})) << exposures_min;
    EXPECT_EQ(told.Seen().left_window, 1u);
    EXPECT_EQ(told.Seen().too_few_exposures, 0u);
  }
}

TEST(Oracle, GoesByTheDayOfCreationWhereTheFilterDoes) {
  OracleRules rules;
  EventFormat format;
  format.wanted.kind = format.wanted.item_created_at = true;
  rules.plan = *EventPlan::Make(format);
  Told told({.window_days = 7, .by_creation = true}, rules);
  const auto add = [&](std::string_view item, int64_t created_days_ago, int64_t shown_days_ago) {
    told.AddRecord(DaysAgo(shown_days_ago),
                   fmt::format(R"({{"user_id":"u","item_id":"{}","exposed_at":{},"item_created_at":{}}})",
                               item, DaysAgo(shown_days_ago).value, DaysAgo(created_days_ago).value));
  };
  add("young", 5, 2);
  add("old by now", 9, 4);
  add("old then", 13, 2);
  add("created after it", 1, 6);
  told.AddRecord(DaysAgo(7), EventOf("u", "nobody says", DaysAgo(7)));
  EXPECT_EQ(told.Must(), (NameSet{"young", "created after it", "nobody says"}));
  EXPECT_EQ(told.judge().too_old(), (std::vector<uint64_t>{1}));
  EXPECT_EQ(told.Seen().left_window, 1u);
}

/// Two filters. One of them counts a declared kind in its own window, and covers one scene.
OracleRules TwoFilters() {
  constexpr auto kBought = static_cast<EventKind>(kDeclaredKindFirst);
  EventFormat format;
  format.wanted.kind = true;
  format.declared_kinds = {{"bought", kBought}};
  format.filters = {{}, {.scenes = {"shop*"}, .when = {}}};
  OracleRules rules;
  rules.plan = *EventPlan::Make(format);
  rules.filters = {{.name = "all"}, {.name = "shop", .window_days = 7, .kinds = {{kBought, 90}}}};
  return rules;
}

TEST(Oracle, KnowsWhichFiltersAnEventConcerns) {
  const OracleRules rules = TwoFilters();
  EventJudge judge(rules);
  Oracle oracle(rules);
  const auto add = [&](std::string_view item, std::string_view kind, std::string_view scene,
                       int64_t days_ago) {
    const std::string value = fmt::format(R"({{"user_id":"u",{}"kind":"{}","scene":"{}","exposed_at":{}}})",
                                          item.empty() ? "" : fmt::format(R"("item_id":"{}",)", item), kind,
                                          scene, DaysAgo(days_ago).value);
    Record record;
    record.timestamp = DaysAgo(days_ago);
    record.value = value;
    if (const auto told = judge.Read(record)) oracle.Add(*told);
  };
  const auto names = [&](size_t filter) {
    NameSet result;
    for (const uint32_t item : oracle.Seen("u", Moment::At(kNoon), filter).must)
      result.emplace(oracle.Item(item));
    return result;
  };
  add("a", "exposed", "home", 1);
  add("b", "exposed", "shop-1", 1);
  add("c", "exposed", "shop-1", 10);
  add("d", "bought", "shop-1", 60);
  add("e", "bought", "home", 1);
  EXPECT_EQ(names(0), (NameSet{"a", "b", "c"}));
  EXPECT_EQ(names(1), (NameSet{"b", "d"}));
  add("b", "removed", "home", 0);
  add("d", "removed", "shop-1", 60);
  EXPECT_EQ(names(0), (NameSet{"a", "c"}));
  EXPECT_EQ(names(1), (NameSet{"b"}));
  add("", "erased", "nowhere", 0);
  EXPECT_TRUE(names(0).empty() && names(1).empty()) << "an erasure concerns every filter";
}

/// Two ids with the same fingerprint.
const std::pair<std::string, std::string>& Twins() {
  static const auto kTwins = [] {
    std::unordered_map<uint32_t, int> known;
    for (int i = 0;; ++i) {
      const auto [at, is_new] = known.try_emplace(FingerprintOf(fmt::format("n{}", i)).value, i);
      if (!is_new) return std::pair(fmt::format("n{}", at->second), fmt::format("n{}", i));
    }
  }();
  return kTwins;
}

TEST(Oracle, TellsItemsOfOneFingerprintApart) {
  const auto& [a, b] = Twins();
  Told told({.window_days = 30});
  told.AddRecord(DaysAgo(1), EventOf("u", a, DaysAgo(1)));
  told.AddRecord(DaysAgo(40), EventOf("u", b, DaysAgo(40)));
  const SeenItems seen = told.Seen();
  EXPECT_EQ(told.Names(seen.must), (NameSet{a}));
  EXPECT_EQ(told.Names(seen.not_seen), (NameSet{b})) << "the filter holds it, by a's fingerprint";
  EXPECT_EQ(seen.fingerprints_must, (std::vector<Fingerprint>{FingerprintOf(b)}));
  // A removal of b also removes a, because the daemon knows only fingerprints.
  told.AddRecord(kNoon, KindOf("removed", "u", b, kNoon));
  EXPECT_EQ(told.May(), (NameSet{a}));
  EXPECT_TRUE(told.Seen().fingerprints_must.empty());
}

TEST(Oracle, AddsUpExposuresOfItemsOfOneFingerprint) {
  const auto& [a, b] = Twins();
  Told told({.exposures_min = 2});
  told.AddRecord(kNoon, EventOf("u", a, DaysAgo(1)));
  told.AddRecord(kNoon, EventOf("u", b, DaysAgo(2)));
  const SeenItems seen = told.Seen();
  EXPECT_TRUE(seen.must.empty());
  EXPECT_EQ(seen.not_seen.size(), 2u);
  EXPECT_EQ(seen.fingerprints_must.size(), 1u);
}

TEST(Oracle, LeavesOutWhatTheDaemonDeadLetters) {
  OracleRules rules;
  rules.event_bytes_max = 200;
  Told told({}, rules);
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
    told.AddRecord(kNoon, c.value, c.is_null);
    EXPECT_EQ(told.counts().malformed, ++malformed) << c.what;
  }
  told.AddRecord(kNoon, EventOf("u", "ahead, but not too far", {kNoon.value + 300'000}));
  EXPECT_EQ(told.counts().malformed, malformed);
  EXPECT_EQ(told.counts().exposures, 1u);
  EXPECT_EQ(told.oracle().Users(), std::vector<std::string_view>{"u"});
}

TEST(EventJudge, ARegistrysBytesDontCountAsTheEvents) {
  const std::string event = EventOf("u", "n", kNoon);
  EventFormat format;
  format.framed = true;
  OracleRules rules;
  rules.plan = *EventPlan::Make(format);
  rules.event_bytes_max = event.size();
  EventJudge judge(rules);
  const std::string longest = std::string("\0\0\0\0\7", 5) + event;
  const std::string longer = longest + " ";
  Record record;
  record.timestamp = kNoon;
  record.value = longest;
  EXPECT_TRUE(judge.Read(record));
  record.value = longer;
  EXPECT_FALSE(judge.Read(record));
  EXPECT_EQ(judge.counts(), (OracleCounts{.records = 2, .exposures = 1, .malformed = 1}));
}

TEST(EventJudge, PassesOverTheMarksOfAReplay) {
  const OracleRules rules;
  EventJudge judge(rules);
  const std::string value = EventOf("u", "n", kNoon);
  for (const auto kind : {ReplayNote::Kind::kBegin, ReplayNote::Kind::kEnd, ReplayNote::Kind::kRecord}) {
    const ReplayNote note{.kind = kind, .publishes_live = false, .run = "r"};
    const bool is_event = kind == ReplayNote::Kind::kRecord;
    Record record;
    record.timestamp = kNoon;
    record.value = is_event ? std::string_view(value) : std::string_view();
    record.value_is_null = !is_event;
    record.replay = &note;
    EXPECT_EQ(judge.Read(record).has_value(), is_event);
  }
  EXPECT_EQ(judge.counts(), (OracleCounts{.records = 1, .exposures = 1}));
}

TEST(Oracle, TakesEveryItemOfABatchEvent) {
  Told told;
  told.AddRecord(kNoon, fmt::format(R"({{"user_id":7,"exposed_at":{},"items":["a",{{"item_id":8}},"a"]}})",
                                    kNoon.value));
  EXPECT_EQ(told.Must("7"), (NameSet{"a", "8"}));
}

TEST(Oracle, BeyondItemsMaxOnlyTheNewestDaysThatFitMustBeSeen) {
  Told told({.items_max = 5});
  for (int i = 0; i < 3; ++i) told.AddRecord(kNoon, EventOf("u", fmt::format("new{}", i), DaysAgo(0)));
  for (int i = 0; i < 4; ++i) told.AddRecord(kNoon, EventOf("u", fmt::format("mid{}", i), DaysAgo(1)));
  told.AddRecord(kNoon, EventOf("u", "new0", DaysAgo(1)));  // a second time: still takes one place
  told.AddRecord(kNoon, EventOf("u", "old", DaysAgo(2)));
  EXPECT_EQ(told.Must(), (NameSet{"new0", "new1", "new2"}));
  EXPECT_EQ(told.May(), (NameSet{"mid0", "mid1", "mid2", "mid3", "old"}));
}

TEST(Oracle, WhatFitsItemsMaxExactlyMustBeSeen) {
  Told told({.items_max = 4});
  for (int i = 0; i < 4; ++i) told.AddRecord(kNoon, EventOf("u", fmt::format("n{}", i), DaysAgo(i / 2)));
  EXPECT_EQ(told.Must().size(), 4u);
}

TEST(Oracle, BeyondItemsPerDayMaxTheSmallestFingerprintsMustBeSeen) {
  Told told({.items_per_day_max = 10});
  std::vector<Fingerprint> fingerprints;
  for (int i = 0; i < 50; ++i) {
    const std::string item = fmt::format("n{}", i);
    told.AddRecord(kNoon, EventOf("u", item, DaysAgo(0)));
    fingerprints.push_back(FingerprintOf(item));
  }
  std::sort(fingerprints.begin(), fingerprints.end());
  const SeenItems seen = told.Seen();
  ASSERT_EQ(seen.must.size(), 10u);
  for (const uint32_t item : seen.must) EXPECT_LE(told.oracle().ItemFingerprint(item), fingerprints[9]);
  EXPECT_EQ(seen.may.size(), 40u);
}

TEST(Oracle, WhatWasRemovedGoesOnCountingAgainstTheDailyLimit) {
  Told told({.items_per_day_max = 2});
  std::vector<std::pair<Fingerprint, std::string>> items;
  for (int i = 0; i < 4; ++i) items.emplace_back(FingerprintOf(fmt::format("n{}", i)), fmt::format("n{}", i));
  std::sort(items.begin(), items.end());
  for (const auto& [fingerprint, item] : items) told.AddRecord(kNoon, EventOf("u", item, DaysAgo(1)));
  told.AddRecord(kNoon, KindOf("removed", "u", items[0].second, DaysAgo(1)));
  EXPECT_EQ(told.Must(), (NameSet{items[1].second}));
  EXPECT_EQ(told.May(), (NameSet{items[2].second, items[3].second}));
}

TEST(NegativesFor, AreNeverItemsOfTheUserAndAlwaysTheSame) {
  Told told;
  for (int i = 0; i < 100; ++i)
    told.AddRecord(kNoon, EventOf(i % 2 == 0 ? "u" : "v", fmt::format("n{}", i), kNoon));
  const auto own_items = told.oracle().ItemsOf("u");
  const auto own = told.Names(own_items);
  const auto negatives = NegativesFor(told.oracle(), "u", own_items, 40);
  EXPECT_EQ(negatives, NegativesFor(told.oracle(), "u", own_items, 40));
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
