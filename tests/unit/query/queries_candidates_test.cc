#include "query/queries_candidates.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

namespace seen {
namespace {

constexpr uint32_t kToday = 20'000 * 86'400;  // in seconds

Change Shown(const std::string& id, uint32_t second) {
  return {FingerprintOf(id), second, ChangeKind::kExposed};
}

// Compares the answers with the rule, stated directly. There are few ids and few days, so that both repeat.
TEST(Candidates, AreThoseNotSeenNotSeenElsewhereAndNotThereBefore) {
  std::mt19937_64 random(3);
  Candidates candidates;
  SeenReader seen;
  for (int round = 0; round < 3'000; ++round) {
    const size_t ids = 1 + random() % 300;
    const auto some = [&](size_t count_max) {
      std::vector<std::string> list(random() % count_max);
      for (std::string& id : list) id = "item-" + std::to_string(random() % ids);
      return list;
    };
    const auto items = some(200), also_seen = some(round % 3 == 0 ? 1 : 20), stored = some(100);
    std::vector<uint32_t> created(round % 2 == 0 ? items.size() : 0);
    for (uint32_t& second : created) {
      if (random() % 2 == 0) second = kToday + static_cast<uint32_t>(random() % 7) * 43'200;
    }
    std::vector<Change> changes;
    std::map<std::string, uint32_t> last_shown;  // id -> last second of the newest day that has the id
    std::map<uint32_t, uint32_t> day_ends;
    for (const std::string& id : stored) {
      changes.push_back(Shown(id, kToday + static_cast<uint32_t>(random() % (3 * 86'400))));
      uint32_t& end = day_ends[changes.back().second / 86'400];
      end = std::max(end, changes.back().second);
    }
    for (size_t i = 0; i < stored.size(); ++i) {
      uint32_t& last = last_shown[stored[i]];
      last = std::max(last, day_ends[changes[i].second / 86'400]);
    }
    ASSERT_TRUE(seen.Read({}, "u", changes, {}));

    std::map<std::string, uint32_t> known_created;  // id -> the latest time that is given
    for (size_t i = 0; i < created.size(); ++i) {
      uint32_t& known = known_created[items[i]];
      known = std::max(known, created[i]);
    }
    std::set<std::string> gone(also_seen.begin(), also_seen.end());
    for (const auto& [id, last] : last_shown) {
      if (last >= known_created[id]) gone.insert(id);
    }
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (gone.insert(items[i]).second) expected.push_back(i);
    }
    std::vector<uint32_t> actual = {1, 2, 3};
    candidates.Unseen({std::vector<std::string_view>(items.begin(), items.end()), created},
                      std::vector<std::string_view>(also_seen.begin(), also_seen.end()), seen, actual);
    ASSERT_EQ(actual, expected) << "round " << round;
  }
}

TEST(Candidates, OfTheSameItemAreOneWhereverItsTimeIsGiven) {
  struct Case {
    const char* name;
    std::vector<uint32_t> created;  // of "a", "b", "a"; "a" and "b" were shown at kToday
    std::vector<uint32_t> unseen;
  };
  const std::vector<Case> cases = {
      {"no times", {}, {}},
      {"created before it was shown", {kToday - 1, 0, kToday}, {}},
      {"its day ended before it was created", {kToday + 1, 0, kToday + 1}, {0}},
      {"time with the first only", {kToday + 1, 0, 0}, {0}},
      {"time with the second only", {0, 0, kToday + 1}, {0}},
      {"the latest counts", {kToday - 9, 0, kToday + 1}, {0}},
      {"both items", {0, kToday + 1, kToday + 1}, {0, 1}},
  };
  const std::vector<std::string_view> ids = {"a", "b", "a"};
  for (const Case& one : cases) {
    SeenReader seen;
    const std::vector<Change> changes = {Shown("a", kToday), Shown("b", kToday)};
    ASSERT_TRUE(seen.Read({}, "u", changes, {}));
    std::vector<uint32_t> unseen;
    Candidates().Unseen({ids, one.created}, {}, seen, unseen);
    EXPECT_EQ(unseen, one.unseen) << one.name;
  }
}

TEST(IdSet, TellsIdsOfOneFingerprintApart) {
  IdSet ids;
  ids.Reset(3);
  EXPECT_TRUE(ids.Insert("a", {7}));
  EXPECT_TRUE(ids.Insert("b", {7}));
  EXPECT_FALSE(ids.Insert("a", {7}));
  EXPECT_FALSE(ids.Insert("b", {7}));
  EXPECT_TRUE(ids.Insert("c", {0}));
  EXPECT_TRUE(ids.Contains("b", {7}));
  EXPECT_FALSE(ids.Contains("c", {7}));
}

}  // namespace
}  // namespace seen
