#include "flow/heavy_users.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace seen {
namespace {

void Note(HeavyUsers& users, const std::string& id, uint64_t items, bool limited = false,
          FilterIndex filter = 0) {
  users.Note(filter, UserKeyOf(id), id, items, limited);
}
std::vector<std::pair<std::string, uint64_t>> Shown(const HeavyUsers& users) {
  std::vector<std::pair<std::string, uint64_t>> shown;
  for (const auto& [filter, user] : users.Heaviest()) shown.emplace_back(user.user_id_start, user.items);
  return shown;
}

TEST(HeavyUsers, GoesByTheNewestReading) {
  HeavyUsers users;
  for (int i = 0; i < 20; ++i) Note(users, "u" + std::to_string(i), 100 + static_cast<uint64_t>(i));
  Note(users, "u19", 3);
  EXPECT_EQ(Shown(users).front(), (std::pair<std::string, uint64_t>("u18", 118)));
  EXPECT_EQ(Shown(users).back(), (std::pair<std::string, uint64_t>("u19", 3)));
  Note(users, "u19", 0);
  EXPECT_EQ(Shown(users).size(), HeavyUsers::kShown - 1);
  Note(users, "u0", 1);  // there is room
  EXPECT_EQ(Shown(users).back().first, "u0");
}

TEST(HeavyUsers, TellsFiltersApartAndShortensIds) {
  HeavyUsers users;
  const std::string id(500, 'x');
  Note(users, id, 5, true, 0);
  Note(users, id, 7, true, 1);
  ASSERT_EQ(users.Heaviest().size(), 2u);
  EXPECT_EQ(users.Heaviest()[0].first, 1u);
  EXPECT_EQ(users.Heaviest()[0].second.user_id_start, std::string(16, 'x'));
  EXPECT_EQ(users.Limited(), 2u);
  Note(users, id, 7, false, 1);
  EXPECT_EQ(users.Limited(), 1u);
}

TEST(HeavyUsers, CountsTheLimitedUpToABound) {
  HeavyUsers users;
  for (size_t i = 0; i < HeavyUsers::kLimitedMax + 100; ++i) Note(users, "u" + std::to_string(i), 1, true);
  EXPECT_EQ(users.Limited(), HeavyUsers::kLimitedMax);
  for (int i = 0; i < 50; ++i) Note(users, "u" + std::to_string(i), 1, false);
  EXPECT_EQ(users.Limited(), HeavyUsers::kLimitedMax - 50);
}

// The table is exact as long as users only grow. After a user shrinks, the table may lack another user with
// more items, until that user is read again.
TEST(HeavyUsers, AgreesWithASlowOne) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    HeavyUsers users;
    std::map<std::string, uint64_t> newest;
    std::map<std::string, bool> limited;
    for (int i = 0; i < 200; ++i) {
      const std::string id = "u" + std::to_string(random() % 40);
      const uint64_t items = newest[id] + random() % 50;  // nobody shrinks
      newest[id] = items;
      limited[id] = random() % 8 == 0;
      Note(users, id, items, limited[id]);
    }
    std::vector<uint64_t> expected;
    for (const auto& [id, items] : newest) {
      if (items > 0) expected.push_back(items);
    }
    std::sort(expected.rbegin(), expected.rend());
    if (expected.size() > HeavyUsers::kShown) expected.resize(HeavyUsers::kShown);
    std::vector<uint64_t> shown;
    for (const auto& [id, items] : Shown(users)) {
      EXPECT_EQ(newest[id], items);
      shown.push_back(items);
    }
    EXPECT_EQ(shown, expected);
    EXPECT_EQ(users.Limited(),
              static_cast<uint64_t>(
                  std::count_if(limited.begin(), limited.end(), [](const auto& one) { return one.second; })));
  }
}

}  // namespace
}  // namespace seen
