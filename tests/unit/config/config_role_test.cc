// role, replica_of and cluster.topic.
#include <gtest/gtest.h>

#include "config/config.h"

namespace seen {
namespace {

tl::expected<Config, std::vector<ConfigError>> Load(const std::string& more) {
  return LoadConfig(R"({"kafka":{"brokers":"a:1","group_id":"zone-b"},"input":{"topic":"t"},
                        "filters":[{"name":"f","window_days":1}])" +
                    more + "}");
}

std::string ErrorOf(const std::string& more) {
  const auto config = Load(more);
  if (config) return "no error";
  return config.error()[0].path + ": " + config.error()[0].message;
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

}  // namespace
}  // namespace seen
