#include <gtest/gtest.h>

#include <random>
#include <set>

#include "flow/publish_table.h"

namespace seen {
namespace {

TEST(UserRefSet, AgreesWithASetUnderRandomInsertionsAndErasures) {
  std::mt19937_64 random(1);
  UserRefSet users;
  std::set<UserRef> expected;
  for (int i = 0; i < 100'000; ++i) {
    // Few tags, so that users share them.
    const UserRef ref{static_cast<FilterId>(random() % 2), {random() % 4, random() % 500}};
    ASSERT_EQ(users.contains(ref), expected.contains(ref));
    if (random() % 100 < (i / 10'000 % 2 == 0 ? 70u : 30u)) {
      users.insert(ref);
      expected.insert(ref);
    } else {
      users.erase(ref);
      expected.erase(ref);
    }
    ASSERT_EQ(users.refs().size(), expected.size());
    ASSERT_EQ(users.empty(), expected.empty());
  }
  EXPECT_EQ(std::set<UserRef>(users.refs().begin(), users.refs().end()), expected);
}

}  // namespace
}  // namespace seen
