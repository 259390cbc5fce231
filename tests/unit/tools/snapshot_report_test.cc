#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "filter/snapshot.h"
#include "tools/ask/answer_text.h"

namespace seen {
namespace {

std::string Sample(int items) {
  std::vector<Fingerprint> fingerprints;
  for (int i = 0; i < items; ++i) fingerprints.push_back(FingerprintOf("n" + std::to_string(i)));
  std::sort(fingerprints.begin(), fingerprints.end());
  return RenderSnapshot({.as_of = {1'763'700'000'123},
                         .horizon = {20'380},
                         .partition = 3,
                         .input_offset = 4711,
                         .false_positive_rate = 0.01},
                        fingerprints);
}

TEST(DescribeSnapshot, TellsEveryFieldOfTheEnvelope) {
  const std::string bytes = Sample(1000);
  const auto about = DescribeSnapshot(bytes, {});
  ASSERT_TRUE(about);
  EXPECT_EQ((*about)["format"], "split_block_bloom");
  EXPECT_EQ((*about)["items"], 1000);
  EXPECT_EQ((*about)["horizon"], "2025-10-19");
  EXPECT_EQ((*about)["as_of"], "2025-11-21T04:40:00.123Z");
  EXPECT_EQ((*about)["as_of_ms"], 1'763'700'000'123);
  EXPECT_EQ((*about)["partition"], 3);
  EXPECT_EQ((*about)["input_offset"], 4711);
  EXPECT_EQ((*about)["bytes"], bytes.size());
  EXPECT_EQ((*about)["false_positive_rate"], 0.01);
  EXPECT_NEAR((*about)["bits_per_item"].get<double>(), 10.5, 1.5);
  EXPECT_FALSE(about->contains("tests"));
  const std::string text = SnapshotText(*about);
  for (const char* part : {"split_block_bloom, 1,000 items", "2025-10-19", "partition 3 below offset 4711"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(DescribeSnapshot, TestsIdsAgainstTheFilter) {
  const std::vector<std::string> ids = {"n0", "n999", "never sent"};
  const auto about = DescribeSnapshot(Sample(1000), ids);
  ASSERT_TRUE(about);
  EXPECT_EQ((*about)["tests"], (nlohmann::ordered_json{{"n0", true}, {"n999", true}, {"never sent", false}}));
  EXPECT_NE(SnapshotText(*about).find("never sent: not seen"), std::string::npos);
}

TEST(DescribeSnapshot, OfNobodyIsEmptyAndWhole) {
  const auto about = DescribeSnapshot(Sample(0), std::vector<std::string>{"n0"});
  ASSERT_TRUE(about);
  EXPECT_EQ((*about)["items"], 0);
  EXPECT_EQ((*about)["tests"]["n0"], false);
  EXPECT_FALSE(about->contains("bits_per_item"));
  EXPECT_FALSE(SnapshotText(*about).empty());
}

TEST(DescribeSnapshot, TellsWhatIsSimilarWhereTheFilterKnows) {
  const std::vector<Fingerprint> seen = {FingerprintOf("n0")};
  const std::vector<Fingerprint> similar = {NearFingerprintOf(FingerprintOf("n1")),
                                            GroupFingerprintOf(FingerprintOf("n0"))};
  std::string bytes;
  RenderSnapshot({SnapshotFormat::kBloom, 0.001, false}, {}, {seen, {}}, similar, bytes);
  const auto about = DescribeSnapshot(bytes, std::vector<std::string>{"n0", "n1", "n2"});
  ASSERT_TRUE(about);
  EXPECT_EQ((*about)["items"], 1);
  EXPECT_EQ((*about)["similar"]["format"], "bloom");
  EXPECT_EQ((*about)["similar"]["fingerprints"], 2);
  const auto filters =
      (*about)["filter_bytes"].get<size_t>() + (*about)["similar"]["filter_bytes"].get<size_t>();
  EXPECT_EQ(filters + 72, bytes.size());
  EXPECT_EQ((*about)["near_tests"], (nlohmann::ordered_json{{"n0", false}, {"n1", true}, {"n2", false}}));
  const std::string text = SnapshotText(*about);
  for (const char* part : {"what is similar: bloom, 2 fingerprints", "n0: seen, or a false positive\n",
                           "n1: not seen; like a seen item, or a false positive\n", "n2: not seen\n"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_FALSE(DescribeSnapshot(Sample(1), {})->contains("similar"));
}

TEST(DescribeSnapshot, RefusesBytesThatAreNoSnapshot) {
  std::string bytes = Sample(10);
  EXPECT_FALSE(DescribeSnapshot("", {}));
  EXPECT_FALSE(DescribeSnapshot(bytes.substr(1), {}));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_FALSE(DescribeSnapshot(bytes, {}));
}

}  // namespace
}  // namespace seen
