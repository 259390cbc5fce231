#include <gtest/gtest.h>

#include "topics/daemon_topics.h"

namespace seen {
namespace {

TEST(UserPartitions, AreTheInputsWhereSnapshotTopicsHaveAsManyOrDontExist) {
  EXPECT_EQ(*UserPartitions("exposures", {4}, {}), 4);
  EXPECT_EQ(*UserPartitions("exposures", {4}, {{"a", 4}, {"b", 4}}), 4);
}

TEST(UserPartitions, StayWhereTheInputGainedPartitions) {
  EXPECT_EQ(*UserPartitions("exposures", {6}, {{"a", 4}}), 4);
  EXPECT_EQ(*UserPartitions("exposures", {6}, {{"a", 4}, {"b", 4}}), 4);
}

TEST(UserPartitions, StayAsTheStateKnowsThem) {
  EXPECT_EQ(*UserPartitions("exposures", {6, 4}, {}), 4);
  EXPECT_EQ(*UserPartitions("exposures", {6, 4}, {{"a", 4}}), 4);
  EXPECT_EQ(*UserPartitions("exposures", {6, 4}, {{"a", 6}}), 4) << "its snapshots stay in the first four";
  EXPECT_EQ(*UserPartitions("exposures", {4, 4}, {{"a", 6}, {"b", 4}}), 4);
}

TEST(UserPartitions, AreTheTopicsOfARebuild) {
  EXPECT_EQ(*UserPartitions("exposures", {6, 4, true}, {}), 6);
  EXPECT_FALSE(UserPartitions("exposures", {6, 4, true}, {{"a", 4}}).has_value());
}

TEST(UserPartitions, RefuseASnapshotTopicOfAnotherCount) {
  const std::map<std::string, int32_t> refused[] = {{{"a", 5}}, {{"a", 4}, {"b", 5}}, {{"a", 4}, {"b", 3}}};
  for (const auto& snapshots : refused) {
    const auto partitions = UserPartitions("exposures", {4}, snapshots);
    ASSERT_FALSE(partitions.has_value());
    EXPECT_EQ(partitions.error().code, Code::kRefused);
    EXPECT_NE(partitions.error().message.find("Remedy"), std::string::npos);
    EXPECT_NE(partitions.error().message.find("filters[].snapshot.topic"), std::string::npos);
  }
}

TEST(UserPartitions, RefuseTopicsThatDisagreeThoughTheInputGrew) {
  EXPECT_FALSE(UserPartitions("exposures", {6}, {{"a", 4}, {"b", 5}}).has_value());
}

}  // namespace
}  // namespace seen
