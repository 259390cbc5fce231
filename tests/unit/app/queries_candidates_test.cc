#include "app/queries_candidates.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace seen {
namespace {

// Against the rule stated directly, with few ids, so that they come again.
TEST(Candidates, AreThoseNotSeenNotSeenElsewhereAndNotThereBefore) {
  std::mt19937_64 random(3);
  Candidates candidates;
  FingerprintSet seen;
  for (int round = 0; round < 3'000; ++round) {
    const size_t ids = 1 + random() % 300;
    const auto some = [&](size_t count_max) {
      std::vector<std::string> list(random() % count_max);
      for (std::string& id : list) id = "item-" + std::to_string(random() % ids);
      return list;
    };
    const auto items = some(200), also_seen = some(round % 3 == 0 ? 1 : 20), stored = some(100);
    std::set<std::string> gone(also_seen.begin(), also_seen.end());
    gone.insert(stored.begin(), stored.end());
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < items.size(); ++i) {
      if (gone.insert(items[i]).second) expected.push_back(i);
    }
    seen.Reset(stored.size());
    for (const std::string& id : stored) seen.Insert(FingerprintOf(id));
    std::vector<uint32_t> actual = {1, 2, 3};
    candidates.Unseen(std::vector<std::string_view>(items.begin(), items.end()),
                      std::vector<std::string_view>(also_seen.begin(), also_seen.end()), seen, actual);
    ASSERT_EQ(actual, expected) << "round " << round;
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
}

}  // namespace
}  // namespace seen
