// Records of the topic of groups: written, and read again.
#include <gtest/gtest.h>

#include "similar/port/item_group.h"

namespace seen {
namespace {

// The record that schemas/item_groups.md shows.
constexpr std::string_view kShown =
    R"({"item_id":"n7","group_id":"n1","created_at":1763690000000,"found_by":"both","similarity":0.93,"distance":2,)"
    R"("near":[{"item_id":"n1","similarity":0.93,"distance":2,"found_by":"both"},)"
    R"({"item_id":"n4","similarity":0.88,"distance":9,"found_by":"minhash"}],"moved_from":null})";

ItemGroup Shown() {
  ItemGroup group;
  group.item_id = "n7";
  group.group_id = "n1";
  group.created_at = {1763690000000};
  group.found = FoundBy::kBoth;
  group.similarity = 0.93;
  group.distance = 2;
  group.near = {{"n1", 0.93, 2, FoundBy::kBoth}, {"n4", 0.88, 9, FoundBy::kMinHash}};
  return group;
}

std::string Written(const ItemGroup& group) {
  std::string out;
  WriteItemGroup(group, out);
  return out;
}

TEST(ItemGroupJson, IsAsTheSchemaShowsIt) {
  EXPECT_EQ(Written(Shown()), kShown);
  const auto read = ReadItemGroup(kShown);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, Shown());
}

TEST(ItemGroupJson, SaysHowMuchIsContainedOnlyIfThatDecided) {
  ItemGroup group = Shown();
  EXPECT_EQ(Written(group).find("containment"), std::string::npos);
  group.near[1].containment = 0.95;
  EXPECT_NE(Written(group).find(R"("similarity":0.88,"containment":0.95,"distance":9,"found_by":"minhash")"),
            std::string::npos)
      << Written(group);
}

TEST(ItemGroupJson, ComesBackAsItWent) {
  ItemGroup group = Shown();
  group.item_id = "quote\" and \n and é";
  group.similarity.reset();
  group.moved_from = "old";
  group.near.assign(kNearItemsMax, {"x", 1.0, 64, FoundBy::kCopy});
  group.near[3].similarity.reset();
  group.near[4].similarity = 0;
  group.near[5].containment = 0.9876;
  group.containment = 1;
  for (const FoundBy found : {FoundBy::kFirst, FoundBy::kCopy, FoundBy::kSimHash, FoundBy::kMinHash,
                              FoundBy::kBoth, FoundBy::kNoText}) {
    group.found = found;
    const auto read = ReadItemGroup(Written(group));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, group);
  }
}

TEST(ItemGroupJson, WritesAtMostFourDigitsAfterThePoint) {
  const auto similarity = [](double value) {
    ItemGroup group;
    group.similarity = value;
    const std::string json = Written(group);
    const size_t from = json.find("\"similarity\":") + 13;
    return json.substr(from, json.find(',', from) - from);
  };
  EXPECT_EQ(similarity(1), "1");
  EXPECT_EQ(similarity(0), "0");
  EXPECT_EQ(similarity(0.8), "0.8");
  EXPECT_EQ(similarity(2.0 / 3), "0.6667");
  EXPECT_EQ(similarity(0.00001), "0");
}

TEST(ItemGroupJson, IgnoresWhatItDoesNotKnow) {
  const auto read = ReadItemGroup(
      R"({"more":[1],"item_id":5,"group_id":"5","created_at":0,"found_by":"no_text","distance":0})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->item_id, "5");
  EXPECT_TRUE(read->IsAlone());
}

TEST(ItemGroupJson, NamesWhatIsWrong) {
  const auto said = [](std::string json) {
    const auto read = ReadItemGroup(json);
    return read ? std::string("read")
                : read.error().message.substr(0, read.error().message.find(" (schemas/"));
  };
  EXPECT_EQ(said("7"), "not a record of groups: an integer; expected an object");
  EXPECT_EQ(said("{").substr(0, 9), "not JSON:");
  EXPECT_EQ(said(R"({"group_id":"g"})"), "item_id: missing");
  const std::string start = R"({"item_id":"a","group_id":"g","created_at":1,)";
  EXPECT_EQ(said(start + R"("distance":0})"), "found_by: missing");
  EXPECT_EQ(said(start + R"("found_by":"luck","distance":0})"),
            "found_by: a string; expected one of first, copy, simhash, minhash, both, no_text");
  EXPECT_EQ(said(start + R"("found_by":"both","distance":65})"),
            "distance: an integer; expected an integer from 0 to 64");
  EXPECT_EQ(said(start + R"("found_by":"both","distance":1,"similarity":1.5})"),
            "similarity: a number with a fraction or exponent; expected a number from 0 to 1, or null");
  EXPECT_EQ(said(start + R"("found_by":"both","distance":1,"near":[{"item_id":"b","distance":0}]})"),
            "near[0].found_by: missing");
  EXPECT_EQ(said(start + R"("found_by":"both","distance":1,"near":{}})"),
            "near: an object; expected an array of at most 32 objects");
}

}  // namespace
}  // namespace seen
