// role, replica_of and the section "cluster".
#include "config/peer_rules.h"
#include "unit/config/config_errors.h"

namespace seen {
namespace {

std::string WithMore(const std::string& more) {
  return R"({"kafka":{"brokers":"a:1","group_id":"zone-b"},"input":{"topic":"t"},
                        "filters":[{"name":"f","window_days":1}])" +
         more + "}";
}
tl::expected<Config, std::vector<ConfigError>> Load(const std::string& more) {
  return LoadConfig(WithMore(more));
}

std::string ErrorOf(const std::string& more) {
  const std::string errors = ErrorsOf(WithMore(more));
  return errors.substr(0, errors.find('\n'));
}

TEST(ConfigRole, AReplicaNamesTheGroupThatOwns) {
  const auto config = Load(R"(,"role":"replica","replica_of":"zone-a")");
  ASSERT_TRUE(config.has_value()) << ErrorOf(R"(,"role":"replica","replica_of":"zone-a")");
  EXPECT_EQ(config->replica_of, "zone-a");
  EXPECT_EQ(config->cluster.topic, "seen-watermarks-cluster");
  const auto owner = Load("");
  ASSERT_TRUE(owner.has_value());
  EXPECT_EQ(owner->replica_of, std::nullopt);
  EXPECT_EQ(owner->cluster.topic, "seen-watermarks-cluster") << "both meet there";
}

TEST(ConfigRole, MistakesAreNamedWithTheirRemedy) {
  EXPECT_EQ(ErrorOf(R"(,"role":"replica")"),
            "replica_of: missing; a replica needs it: the kafka.group_id of the owners");
  EXPECT_EQ(ErrorOf(R"(,"role":"replica","replica_of":"zone-b")"),
            "replica_of: \"zone-b\": is this daemon's own kafka.group_id; give the replicas a group of their "
            "own, and name the owners' group here");
  EXPECT_EQ(ErrorOf(R"(,"replica_of":"zone-a")"),
            "replica_of: \"zone-a\": is for \"role\": \"replica\"; set that, or leave it out");
  EXPECT_EQ(ErrorOf(R"(,"role":"replica","replica_of":"zone-a","watermarks":{"topic":null})"),
            "role: \"replica\": needs watermarks.topic, which says how far the owners are");
  EXPECT_EQ(ErrorOf(R"(,"cluster":{"topic":"t"})"),
            "cluster.topic: \"t\": is also the topic of input.topic; the cluster needs a topic of its own");
}

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
