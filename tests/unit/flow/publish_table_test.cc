#include "flow/publish_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace seen {
namespace {

TEST(PublishTable, AgreesWithAMapUnderRandomAddsAndRemovals) {
  std::mt19937_64 random(1);
  PublishTable table;
  std::map<UserRef, uint32_t> expected;
  // Few different tags and homes, so that runs of cells grow, join and break.
  const auto any = [&] {
    return UserRef{static_cast<FilterId>(random() % 2), {random() % 4, random() % 3000}};
  };
  for (int i = 0; i < 200'000; ++i) {
    const UserRef ref = any();
    const auto known = expected.find(ref);
    ASSERT_EQ(table.Find(ref), known == expected.end() ? PublishTable::kNone : known->second);
    // The table fills up and empties in turns.
    if (random() % 100 < (i / 20'000 % 2 == 0 ? 70u : 30u)) {
      const uint32_t number = table.FindOrAdd(ref, Outlet{ref.filter.number()});
      if (known == expected.end()) {
        ASSERT_FALSE(table[number].dirty);
        table[number].dirty = true;
        expected[ref] = number;
      }
      ASSERT_EQ(number, expected[ref]);
      ASSERT_EQ(table[number].ref(), ref);
    } else if (known != expected.end()) {
      table.Remove(known->second);
      expected.erase(known);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  for (const auto& [ref, number] : expected) ASSERT_EQ(table.Find(ref), number);
  EXPECT_LE(table.end(), 24'000u) << "numbers are used again";
}

}  // namespace
}  // namespace seen
