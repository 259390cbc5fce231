#include "serve/http_clients.h"

#include <gtest/gtest.h>

#include <vector>

namespace seen {
namespace {

using boost::asio::ip::make_address;
using std::chrono::milliseconds;

class HttpClientsTest : public testing::Test {
 protected:
  HttpClientsTest() {
    limits_.connections_max = 2;
    limits_.requests_per_s_max = 10;
  }
  ClientLimits limits_;
  ByteBudget all_{100};
  HttpClients clients_{limits_, 60, all_};
};

TEST_F(HttpClientsTest, CountConnectionsOfAnAddress) {
  const auto one = make_address("10.0.0.1");
  EXPECT_NE(clients_.Enter(one), nullptr);
  EXPECT_NE(clients_.Enter(make_address("::ffff:10.0.0.1")), nullptr) << "the same address";
  EXPECT_EQ(clients_.Enter(one), nullptr);
  EXPECT_NE(clients_.Enter(make_address("10.0.0.2")), nullptr);
  clients_.Leave(one);
  EXPECT_NE(clients_.Enter(one), nullptr);
}

TEST_F(HttpClientsTest, KnowAClientForWhomADaemonAsks) {
  const auto one = make_address("10.0.0.1");
  const auto entered = clients_.Enter(one);
  EXPECT_EQ(clients_.Named(one), entered) << "asked directly or not, it is one client";
  EXPECT_NE(clients_.Named(make_address("10.0.0.2")), entered);
  EXPECT_NE(clients_.Enter(one), nullptr) << "to be named takes no connection";
  for (int i = 0; i < 5'000; ++i)
    EXPECT_NE(clients_.Named(boost::asio::ip::address_v4(static_cast<uint32_t>(i))), nullptr);
  EXPECT_EQ(clients_.Named(one), entered);
}

TEST_F(HttpClientsTest, TakeA64OfIpv6AsOne) {
  EXPECT_NE(clients_.Enter(make_address("2001:db8::1")), nullptr);
  EXPECT_NE(clients_.Enter(make_address("2001:db8::2")), nullptr);
  EXPECT_EQ(clients_.Enter(make_address("2001:db8:0:0:ffff::3")), nullptr);
  EXPECT_NE(clients_.Enter(make_address("2001:db8:0:1::1")), nullptr);
}

TEST_F(HttpClientsTest, GiveEachAPartOfTheBodies) {
  const auto one = clients_.Enter(make_address("10.0.0.1"));
  const auto two = clients_.Enter(make_address("10.0.0.2"));
  EXPECT_FALSE(one->bodies.Take(101)) << "more than the server has";
  EXPECT_TRUE(one->bodies.Take(80)) << "its only one may be longer than its part";
  EXPECT_FALSE(one->bodies.Take(1));
  one->bodies.GiveBack(80);
  EXPECT_TRUE(one->bodies.Take(50));
  EXPECT_FALSE(one->bodies.Take(11));
  EXPECT_TRUE(one->bodies.Take(10));
  EXPECT_FALSE(two->bodies.Take(41)) << "the server has no more";
  EXPECT_TRUE(two->bodies.Take(40));
  one->bodies.GiveBack(60);
  two->bodies.GiveBack(40);
  EXPECT_EQ(all_.taken(), 0U);
}

TEST_F(HttpClientsTest, LetAClientAskSoOftenASecond) {
  const auto share = clients_.Enter(make_address("10.0.0.1"));
  auto now = std::chrono::steady_clock::now();
  int allowed = 0;
  for (int i = 0; i < 50; ++i) allowed += share->MayAsk(now, 10) ? 1 : 0;
  EXPECT_EQ(allowed, 10) << "a second's worth at once";
  allowed = 0;
  for (int i = 0; i < 50; ++i) allowed += share->MayAsk(now += milliseconds(20), 10) ? 1 : 0;
  EXPECT_GE(allowed, 9);
  EXPECT_LE(allowed, 10);
}

TEST_F(HttpClientsTest, ForgetNothingByANewConnection) {
  const auto address = make_address("10.0.0.1");
  const auto now = std::chrono::steady_clock::now();
  auto share = clients_.Enter(address);
  while (share->MayAsk(now, 10)) {
  }
  share.reset();
  clients_.Leave(address);
  EXPECT_FALSE(clients_.Enter(address)->MayAsk(now, 10));
}

}  // namespace
}  // namespace seen
