#include "bulk_load/history_fill.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "support/fake_binary_format.h"
#include "support/fakes.h"

namespace seen {
namespace {

class HistoryFillTest : public testing::Test {
 protected:
  HistoryFillTest() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~HistoryFillTest() override { std::filesystem::remove_all(folder_); }

  static std::string Of(uint8_t schema, const std::string& item) {
    return sim::FakeBinaryFormat::Framed(
        schema, R"({"user_id":"u","item_id":")" + item + R"(","exposed_at":1763700000000})");
  }
  /// What is missing from a fill of these records.
  std::string FilledBy(const std::vector<std::string>& values) {
    PartitionOptions options;
    options.plan = sim::FakeBinaryFormat::PlanBy([](uint32_t schema) {
      return schema == 1 ? std::nullopt : std::optional(RejectReason::kUnknownSchema);
    });
    options.filters.emplace_back().id = FilterId{0};
    HistoryFill fill(options, {.filter = 0, .folder = folder_}, clock_);
    std::vector<Record> records;
    for (const std::string& value : values) {
      records.push_back({static_cast<int64_t>(records.size()), {1763700000000}, "u", value, false});
    }
    EXPECT_TRUE(fill.Apply(records));
    EXPECT_TRUE(fill.ForEachPage([](const FillPage&) { return Status(); }));
    EXPECT_EQ(fill.next_offset(), static_cast<int64_t>(values.size()));
    return fill.WhatIsMissing();
  }

  sim::VirtualClock clock_;
  std::string folder_ = (std::filesystem::temp_directory_path() / "seen-fill-XXXXXX").string();
};

TEST_F(HistoryFillTest, SaysWhichRecordsItLeftOutThoughTheyMayHaveCounted) {
  EXPECT_EQ(FilledBy({Of(1, "a"), Of(1, "b")}), "");
  EXPECT_EQ(FilledBy({Of(1, "a"), "garbage", "{}"}), "") << "these were dead letters when they were live";
  const std::string missing = FilledBy({Of(1, "a"), Of(2, "b"), Of(3, "c"), Of(1, "d")});
  EXPECT_NE(missing.find("left out 2 records"), std::string::npos) << missing;
}

}  // namespace
}  // namespace seen
