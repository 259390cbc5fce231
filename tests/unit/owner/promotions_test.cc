#include <gtest/gtest.h>

#include "owner/outputs_owner.h"

namespace seen {
namespace {

TEST(Promotions, IsWhatTheConfigurationSaysUntilAnyoneIsPromoted) {
  const Promotions owner("a", std::nullopt, "cluster");
  const Promotions replica("b", "a", "cluster");
  EXPECT_TRUE(owner.IsThisGroup());
  EXPECT_FALSE(replica.IsThisGroup());
  for (const Promotions* one : {&owner, &replica}) {
    EXPECT_EQ(one->Group(), "a");
    EXPECT_EQ(one->FirstGroup(), "a");
    EXPECT_FALSE(one->IsPromoted());
    EXPECT_TRUE(one->HasOwned("a"));
    EXPECT_FALSE(one->HasOwned("c"));
  }
  EXPECT_FALSE(owner.HasOwned("b")) << "the state of another group is refused";
}

TEST(Promotions, APromotionNamesAllThatEverOwned) {
  const Promotion next = Promotions("b", "a", "cluster").Next("b-1", {17});
  EXPECT_EQ(next.group, "b");
  EXPECT_EQ(next.owners, (std::vector<std::string>{"a", "b"}));
  const auto read = ParsePromotion(EncodePromotion(next));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->owners, next.owners);
  EXPECT_EQ(read->instance, "b-1");
  EXPECT_EQ(read->at.value, 17);
}

TEST(Promotions, TheLastOneDecides) {
  Promotions a("a", std::nullopt, "cluster");
  Promotions b("b", "a", "cluster");
  Promotions stranger("c", std::nullopt, "cluster");
  const std::string to_b = EncodePromotion(b.Next("b-1", {17}));
  EXPECT_TRUE(a.Obey(to_b));
  EXPECT_TRUE(b.Obey(to_b));
  EXPECT_FALSE(a.IsThisGroup());
  EXPECT_TRUE(b.IsThisGroup());
  EXPECT_TRUE(b.IsPromoted());
  EXPECT_EQ(stranger.Obey(to_b).error().code, Code::kRefused);
  EXPECT_TRUE(a.Obey("not a promotion"));
  EXPECT_EQ(a.Group(), "b") << "the previous owner stays";
  const std::string back = EncodePromotion(a.Next("a-1", {18}));
  EXPECT_TRUE(a.Obey(back));
  EXPECT_TRUE(b.Obey(back));
  EXPECT_TRUE(a.IsThisGroup());
  EXPECT_FALSE(b.IsThisGroup());
  EXPECT_EQ(b.FirstGroup(), "a");
}

TEST(Promotions, ReadsNoPromotionThatItDoesNotUnderstand) {
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
