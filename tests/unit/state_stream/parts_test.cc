#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "state_stream/part_reader.h"
#include "stream_fixture.h"

namespace seen::test {
namespace {

ReadStatePart PartOf(const std::string& record) {
  auto decoded = DecodeStateRecord(record);
  EXPECT_TRUE(decoded);
  return std::get<ReadStatePart>(*decoded);
}

RowBatch RandomRows(size_t rows, size_t value_bytes) {
  std::mt19937_64 random(rows);
  RowBatch batch;
  batch.Add({RowOp::kDeleteRange, "\x21", "\x22"});
  for (size_t i = 0; i < rows; ++i) {
    std::string value(value_bytes, '\0');
    for (char& c : value) c = static_cast<char>(random());
    batch.Add({RowOp::kPut, std::to_string(1'000'000 + i), value});
  }
  return batch;
}

void ExpectSame(const RowBatch& a, const RowBatch& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.ranges(), b.ranges());
  for (size_t i = 0; i < a.rows(); ++i) ASSERT_EQ(a.GetRow(i), b.GetRow(i));
  for (size_t i = 0; i < a.ranges(); ++i) ASSERT_EQ(a.GetRange(i), b.GetRange(i));
}

// Blocks with many rows, rows as long as many blocks, records shorter and longer than a block.
TEST(StateParts, AreReadAsTheyWereWritten) {
  for (const auto& [rows, value_bytes] : {std::pair<size_t, size_t>{1, 1}, {5000, 200}, {3, 2'000'000}}) {
    const RowBatch batch = RandomRows(rows, value_bytes);
    StatePart first = RunHead(7, 3, 100, 200);
    first.verified = {{"seen-home", 12}};
    for (const size_t record_bytes_max : {size_t{200}, size_t{10'000}, size_t{1'000'000}}) {
      const auto records = RecordsOf(first, batch, record_bytes_max);
      RowBatch read;
      PartReader reader(PartOf(records[0]).head);
      EXPECT_EQ(reader.first().verified, first.verified);
      for (size_t i = 0; i < records.size(); ++i) {
        ASSERT_LE(records[i].size(), record_bytes_max);
        ASSERT_FALSE(reader.is_whole());
        ASSERT_TRUE(reader.Take(PartOf(records[i]), read));
      }
      EXPECT_TRUE(reader.is_whole());
      ExpectSame(read, batch);
    }
  }
}

TEST(StateParts, NeverBecomeWholeWhereOneIsMissingOrAnothers) {
  const auto records = RunOf(7, 3, 0, 2000, 100);
  ASSERT_GE(records.size(), 4u);
  const auto refused = [](PartReader& reader, const std::string& record) {
    RowBatch rows;
    return reader.Take(PartOf(record), rows).error().code == Code::kMalformed;
  };
  RowBatch rows;
  PartReader reader(PartOf(records[0]).head);
  ASSERT_TRUE(reader.Take(PartOf(records[0]), rows));
  EXPECT_TRUE(refused(reader, records[0]));
  EXPECT_TRUE(refused(reader, records[2]));
  EXPECT_TRUE(refused(reader, RunOf(7, 4, 0, 2000, 100)[1]));
  EXPECT_TRUE(refused(reader, RunOf(8, 3, 0, 2000, 100)[1]));
  EXPECT_TRUE(reader.Take(PartOf(records[1]), rows));
  EXPECT_FALSE(reader.is_whole());
}

TEST(StateParts, AnErrorOfWhoTakesThemComesOut) {
  int taken = 0;
  PartWriter writer(RunHead(7, 3, 0, 1), 200, [&](const std::string&) {
    return ++taken == 3 ? Fail(Code::kUnavailable, "full") : Status();
  });
  const std::string value(1000, 'v');
  Status added;
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000 && added; ++i) {
    const std::string noise = std::to_string(random());
    added = writer.Add({RowOp::kPut, std::to_string(1'000'000 + i), noise});
  }
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace seen::test
