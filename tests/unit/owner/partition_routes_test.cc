#include "owner/partition_routes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/fakes.h"

namespace seen::test {
namespace {

using Addresses = std::vector<std::string>;

/// One partition, and a daemon "asked" that doesn't own it.
class PartitionRoutesTest : public testing::Test {
 protected:
  PartitionRoutesTest() { routes_.SetSelf("asked", 1); }
  void Hear(const std::string& instance, const std::string& state, int32_t partition = 0) {
    routes_.HearOwner(fmt::format(
        R"({{"version":1,"group":"seen","instance":"{0}","address":"{0}:80","state":"{1}","partition":{2}}})",
        instance, state, partition));
  }
  Addresses Asked() const { return routes_.AddressesFor("u"); }

  sim::VirtualClock clock_;
  Promotions promotions_{"seen", std::nullopt, ""};
  PartitionRoutes routes_{{"seen", {}}, promotions_, clock_};
};

TEST_F(PartitionRoutesTest, TheFormerOwnerIsAskedUntilTheOwnerIsReady) {
  Hear("former", "ready");
  EXPECT_EQ(Asked(), (Addresses{"former:80"}));
  Hear("owner", "catching_up");
  EXPECT_EQ(Asked(), (Addresses{"former:80", "owner:80"}));
  Hear("owner", "ready");
  EXPECT_EQ(Asked(), (Addresses{"owner:80"}));
  Hear("owner", "catching_up");
  EXPECT_EQ(Asked(), (Addresses{"owner:80"})) << "it is behind, and nobody else answers";
}

// A restore of a large state takes minutes. Its daemon says nothing of the partition until it is open.
TEST_F(PartitionRoutesTest, TheFormerOwnerIsAskedWhileTheOwnerRestores) {
  Hear("former", "ready");
  for (int second = 0; second < 60; ++second) {
    clock_.Advance(1'000);
    Hear("former", "ready", 1);
  }
  EXPECT_EQ(Asked(), (Addresses{"former:80"}));
}

TEST_F(PartitionRoutesTest, AFormerOwnerThatIsGoneIsNotAsked) {
  Hear("former", "ready");
  clock_.Advance(11'000);
  EXPECT_EQ(Asked(), Addresses());
  Hear("owner", "catching_up");
  EXPECT_EQ(Asked(), (Addresses{"owner:80"}));
}

TEST_F(PartitionRoutesTest, AnOwnerOfAnEarlierVersionDoesNotSayWhetherItIsReady) {
  Hear("former", "ready");
  Hear("owner", "");
  EXPECT_EQ(Asked(), (Addresses{"owner:80"}));
}

// Kafka's rebalance moves a partition only after another daemon has been ready for a second.
TEST_F(PartitionRoutesTest, APartitionIsReadyElsewhereOnceAllHaveHeardIt) {
  const Instant since = clock_.Now();
  clock_.Advance(1);
  Hear("other", "ready");
  EXPECT_FALSE(routes_.IsReadyElsewhere(0, since)) << "others may not have heard it yet";
  clock_.Advance(1'000);
  EXPECT_TRUE(routes_.IsReadyElsewhere(0, since));
  EXPECT_FALSE(routes_.IsReadyElsewhere(0, clock_.Now())) << "the beat is older";
  EXPECT_FALSE(routes_.IsReadyElsewhere(1, since));
}

TEST_F(PartitionRoutesTest, OnlyTheOwnersBeatsSayWhatIsPublished) {
  routes_.HearOwner(R"({"group":"seen","partition":0,"published_to":7})");
  EXPECT_EQ(routes_.PublishedTo(0), 7);
  routes_.HearOwner(R"({"group":"other","partition":0,"published_to":9})");
  EXPECT_EQ(routes_.PublishedTo(0), -1);
  EXPECT_EQ(routes_.PublishedTo(1), -1) << "nobody was heard";
}

TEST_F(PartitionRoutesTest, ADaemonDoesNotAskItself) {
  Hear("asked", "ready");
  Hear("owner", "catching_up");
  EXPECT_EQ(Asked(), (Addresses{"owner:80"}));
}

}  // namespace
}  // namespace seen::test
