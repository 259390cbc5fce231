#include "topics/peer_routes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/fakes.h"

namespace seen::test {
namespace {

using Addresses = std::vector<std::string>;

/// One partition, and a daemon "asked" that doesn't own it.
class PeerRoutesTest : public testing::Test {
 protected:
  PeerRoutesTest() {
    config_.kafka.group_id = "seen";
    routes_.SetSelf("asked", 1);
  }
  void Hear(const std::string& instance, const std::string& state, int32_t partition = 0) {
    routes_.HearOwner(fmt::format(
        R"({{"version":1,"group":"seen","instance":"{0}","address":"{0}:80","state":"{1}","partition":{2}}})",
        instance, state, partition));
  }
  Addresses Asked() const { return routes_.AddressesFor("u"); }

  sim::VirtualClock clock_;
  Config config_;
  ClusterOwner owner_{config_};
  PeerRoutes routes_{config_, owner_, clock_};
};

TEST_F(PeerRoutesTest, TheFormerOwnerIsAskedUntilTheOwnerIsReady) {
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
TEST_F(PeerRoutesTest, TheFormerOwnerIsAskedWhileTheOwnerRestores) {
  Hear("former", "ready");
  for (int second = 0; second < 60; ++second) {
    clock_.Advance(1'000);
    Hear("former", "ready", 1);
  }
  EXPECT_EQ(Asked(), (Addresses{"former:80"}));
}

TEST_F(PeerRoutesTest, AFormerOwnerThatIsGoneIsNotAsked) {
  Hear("former", "ready");
  clock_.Advance(11'000);
  EXPECT_EQ(Asked(), Addresses());
  Hear("owner", "catching_up");
  EXPECT_EQ(Asked(), (Addresses{"owner:80"}));
}

TEST_F(PeerRoutesTest, AnOwnerOfAnEarlierVersionDoesNotSayWhetherItIsReady) {
  Hear("former", "ready");
  Hear("owner", "");
  EXPECT_EQ(Asked(), (Addresses{"owner:80"}));
}

TEST_F(PeerRoutesTest, ADaemonDoesNotAskItself) {
  Hear("asked", "ready");
  Hear("owner", "catching_up");
  EXPECT_EQ(Asked(), (Addresses{"owner:80"}));
}

}  // namespace
}  // namespace seen::test
