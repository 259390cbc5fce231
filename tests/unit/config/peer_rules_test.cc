#include "config/peer_rules.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace seen {
namespace {

bool Allows(std::string_view rules, std::string_view address) {
  const auto parsed = PeerRules::Parse(rules);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed && parsed->Allows(address);
}

TEST(PeerRules, TakeHostsPortsAndNetworks) {
  EXPECT_TRUE(Allows("seend-1", "seend-1:8080"));
  EXPECT_TRUE(Allows("seend-1:8080", "seend-1:8080"));
  EXPECT_FALSE(Allows("seend-1:8080", "seend-1:22")) << "another port";
  EXPECT_FALSE(Allows("seend-1", "seend-10:8080"));
  EXPECT_TRUE(Allows("a,10.1.2.0/23,b", "10.1.3.255:1"));
  EXPECT_FALSE(Allows("a,10.1.2.0/23,b", "10.1.4.0:1"));
  EXPECT_TRUE(Allows("10.0.0.0/0", "1.2.3.4:5"));
  EXPECT_TRUE(Allows("fd00::/8", "[fd12::1]:80"));
  EXPECT_FALSE(Allows("fd00::/8", "[fe80::1]:80"));
  EXPECT_FALSE(Allows("0.0.0.0/0", "[::1]:80")) << "another family";
  EXPECT_FALSE(Allows("0.0.0.0/0", "seend-1:80")) << "names aren't looked up";
  EXPECT_FALSE(Allows("seend-1", "seend-1")) << "no port";
  EXPECT_FALSE(Allows("", "127.0.0.1:80"));
}

TEST(PeerRules, NameWhatTheyDoNotTake) {
  for (const char* const bad :
       {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "name/8", "fd00::/129", "a,:80", "10.0.0.0/8x"}) {
    const auto rules = PeerRules::Parse(bad);
    ASSERT_FALSE(rules) << bad;
    EXPECT_EQ(rules.error().code, Code::kInvalidArgument);
  }
  EXPECT_NE(PeerRules::Parse("a,10.0.0.0/33").error().message.find("\"10.0.0.0/33\""), std::string::npos);
}

TEST(PeerRules, NeedAToken) {
  const std::string given = R"({"kafka":{"brokers":"a:1"},"input":{"topic":"t"},"filters":[{"name":"f"}],)"
                            R"("cluster":{"peers":"10.0.0.0/8")";
  const auto without = LoadConfig(given + "}}", {}, {});
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error()[0].path, "cluster.token");
  EXPECT_TRUE(LoadConfig(given + R"(,"token":"12345678"}})", {}, {}));
}

}  // namespace
}  // namespace seen
