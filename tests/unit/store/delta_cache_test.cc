#include "store/delta_cache.h"

#include <gtest/gtest.h>

#include "unit/store/store_fixture.h"

namespace seen {
namespace {

using test::Encoded;
using test::Exposures;
using test::kDay;
using test::User;

class DeltaCacheTest : public testing::Test {
 protected:
  DeltaCacheTest() { rules.Load({{"default", 30, {}}}); }
  void Checkpoint(const UserRef& user, const std::string& delta) {
    cache.CheckpointBegins();
    cache.Compose(user, delta);
    cache.CheckpointEnds();
  }
  // The cached bytes of a user. "none": the user must be read from the store.
  std::string Got(const UserRef& user) {
    std::string out;
    return cache.Get(user, out) ? out : "none";
  }

  MergeRules rules;
  DeltaCache cache{64 * 1024, rules};
};

TEST_F(DeltaCacheTest, AnswersWhatWasOfferedAlsoNothing) {
  const std::string one = Encoded(Exposures(kDay, {1}));
  EXPECT_EQ(Got(User(1)), "none");
  cache.Offer(User(1), one, cache.Era());
  cache.Offer(User(2), "", cache.Era());
  EXPECT_EQ(Got(User(1)), one);
  EXPECT_EQ(Got(User(2)), "");
  EXPECT_EQ(Got(User(1, 3)), "none") << "another filter";
}

TEST_F(DeltaCacheTest, ComposesWhatACheckpointBrings) {
  cache.Offer(User(1), Encoded(Exposures(kDay, {1, 5})), cache.Era());
  cache.Offer(User(2), "", cache.Era());
  Checkpoint(User(1), Encoded(Exposures(kDay, {3})));
  Checkpoint(User(2), Encoded(Exposures(kDay, {3})));
  Checkpoint(User(3), Encoded(Exposures(kDay, {3})));
  EXPECT_EQ(Got(User(1)), Encoded(Exposures(kDay, {1, 3, 5})));
  EXPECT_EQ(Got(User(2)), Encoded(Exposures(kDay, {3})));
  EXPECT_EQ(Got(User(3)), "none") << "what the store has besides isn't known";
}

TEST_F(DeltaCacheTest, RefusesWhatWasReadBeforeACheckpointEnded) {
  const std::string before = Encoded(Exposures(kDay, {1}));
  uint64_t era = cache.Era();
  Checkpoint(User(1), Encoded(Exposures(kDay, {2})));
  cache.Offer(User(1), before, era);
  EXPECT_EQ(Got(User(1)), "none");

  cache.CheckpointBegins();
  era = cache.Era();
  cache.Offer(User(1), before, era);
  EXPECT_EQ(Got(User(1)), "none") << "its delta may have gone by already";
  cache.CheckpointEnds();
  cache.Offer(User(1), before, era);
  EXPECT_EQ(Got(User(1)), "none");
}

TEST_F(DeltaCacheTest, StaysWithinItsBytesAndKeepsWhoIsAskedFor) {
  const std::string value(100, 'x');
  for (uint64_t i = 0; i < 10'000; ++i) {
    (void)Got(User(7));
    cache.Offer(User(i), value, cache.Era());
    ASSERT_LE(cache.bytes(), 64u * 1024);
  }
  EXPECT_GT(cache.bytes(), 32u * 1024);
  EXPECT_EQ(Got(User(7)), value);
  EXPECT_EQ(Got(User(0)), "none");
  cache.Offer(User(1), std::string(64 * 1024, 'x'), cache.Era());
  EXPECT_EQ(Got(User(1)), "none") << "one user would drive out the others";
}

TEST_F(DeltaCacheTest, ADamagedValueIsDroppedNotComposed) {
  cache.Offer(User(1), "damaged", cache.Era());
  Checkpoint(User(1), Encoded(Exposures(kDay, {2})));
  EXPECT_EQ(Got(User(1)), "none");
}

}  // namespace
}  // namespace seen
