#include "owner/lease.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

using namespace std::chrono_literals;  // NOLINT: tests

constexpr Instant kStart{std::chrono::hours(1)};

TEST(LeaseTimes, LeaveASecondOfTheSessionAndDeliverWithinHalfOfTheRest) {
  struct Case {
    std::chrono::milliseconds session, lease, delivery;
  };
  for (const auto& [session, lease, delivery] :
       {Case{45s, 44s, 22s}, Case{6s, 5s, 2500ms}, Case{1s, 500ms, 250ms}}) {
    const LeaseTimes times = LeaseTimes::Of(session);
    EXPECT_EQ(times.lease, lease);
    EXPECT_EQ(times.delivery, delivery);
  }
}

class CommitLeaseTest : public testing::Test {
 protected:
  CommitLease lease_{LeaseTimes::Of(10s)};  // 9 s, of which the last 4.5 are for delivery
};

TEST_F(CommitLeaseTest, NothingIsPublishedBeforeTheFirstCommit) {
  EXPECT_FALSE(lease_.MayPublish(0, kStart));
}

TEST_F(CommitLeaseTest, BeginsWhenTheCommitWasSentAndLeavesTimeForDelivery) {
  lease_.Committed(0, kStart);
  EXPECT_TRUE(lease_.MayPublish(0, kStart));
  EXPECT_TRUE(lease_.MayPublish(0, kStart + 4499ms));
  EXPECT_FALSE(lease_.MayPublish(0, kStart + 4500ms));
  EXPECT_FALSE(lease_.MayPublish(1, kStart)) << "each partition has its own";
  lease_.Committed(0, kStart + 3s);
  EXPECT_TRUE(lease_.MayPublish(0, kStart + 7s));
}

TEST_F(CommitLeaseTest, AnAnswerThatComesLateShortensNothing) {
  lease_.Committed(0, kStart + 3s);
  lease_.Committed(0, kStart);
  EXPECT_TRUE(lease_.MayPublish(0, kStart + 7s));
}

TEST_F(CommitLeaseTest, EndsAtOnceAndOnlyALaterCommitBringsItBack) {
  lease_.Committed(0, kStart);
  lease_.Ended(0, kStart + 1s);
  EXPECT_FALSE(lease_.MayPublish(0, kStart + 1s));
  lease_.Committed(0, kStart + 1s);
  EXPECT_FALSE(lease_.MayPublish(0, kStart + 1s));
  lease_.Committed(0, kStart + 2s);
  EXPECT_TRUE(lease_.MayPublish(0, kStart + 2s));
}

}  // namespace
}  // namespace seen
