#include "topics/cluster_owner.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

Config ConfigOf(const std::string& group, const std::string& replica_of = "") {
  Config config;
  config.kafka.group_id = group;
  if (!replica_of.empty()) config.replica_of = replica_of;
  return config;
}

TEST(ClusterOwner, IsWhatTheConfigurationSaysUntilAnyoneIsPromoted) {
  const Config a = ConfigOf("a");
  const Config b = ConfigOf("b", "a");
  const ClusterOwner owner(a);
  const ClusterOwner replica(b);
  EXPECT_TRUE(owner.IsThisGroup());
  EXPECT_FALSE(replica.IsThisGroup());
  for (const ClusterOwner* one : {&owner, &replica}) {
    EXPECT_EQ(one->Group(), "a");
    EXPECT_EQ(one->FirstGroup(), "a");
    EXPECT_FALSE(one->IsPromoted());
    EXPECT_TRUE(one->HasOwned("a"));
    EXPECT_FALSE(one->HasOwned("c"));
  }
  EXPECT_FALSE(owner.HasOwned("b")) << "the state of another group is refused";
  EXPECT_EQ(replica.PublishedTo(0), -1) << "nobody was heard";
}

TEST(ClusterOwner, APromotionNamesAllThatEverOwned) {
  const Config config = ConfigOf("b", "a");
  const Promotion next = ClusterOwner(config).NextPromotion("b-1", {17});
  EXPECT_EQ(next.group, "b");
  EXPECT_EQ(next.owners, (std::vector<std::string>{"a", "b"}));
  const auto read = ParsePromotion(EncodePromotion(next));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->owners, next.owners);
  EXPECT_EQ(read->instance, "b-1");
  EXPECT_EQ(read->at.value, 17);
}

TEST(ClusterOwner, ReadsNoPromotionThatItDoesNotUnderstand) {
  EXPECT_FALSE(ParsePromotion(""));
  EXPECT_FALSE(ParsePromotion("[]"));
  EXPECT_FALSE(ParsePromotion(R"({"version":2,"group":"b","owners":["a","b"]})")) << "a newer version's";
  EXPECT_FALSE(ParsePromotion(R"({"version":1,"owners":["a","b"]})"));
  EXPECT_FALSE(ParsePromotion(R"({"version":1,"group":"b","owners":[]})"));
  EXPECT_FALSE(ParsePromotion(R"({"version":1,"group":"b","owners":["b","a"]})")) << "the last one owns";
  EXPECT_FALSE(ParsePromotion(R"({"version":1,"group":"b","owners":[7,"b"]})"));
  EXPECT_TRUE(ParsePromotion(R"({"version":1,"group":"b","owners":["a","b"],"more":1})"));
}

}  // namespace
}  // namespace seen
