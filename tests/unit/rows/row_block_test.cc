#include "rows/row_block.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "model/delta.h"
#include "rows/keys.h"

namespace seen::test {
namespace {

struct OwnRow {
  RowOp op;
  std::string key;
  std::string value;
  friend bool operator==(const OwnRow&, const OwnRow&) = default;
};

std::string EncodedDelta(const std::string& user_id, uint32_t item) {
  Delta delta;
  delta.user_id = user_id;
  delta.segments = {{Day{20'000}, 10, 20, {{item}}}};
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

OwnRow DeltaRow(const std::string& user_id, FilterId filter = FilterId{0}, RowOp op = RowOp::kMerge) {
  return {op, std::string(View(KeyOf(Table::kDeltas, {filter, UserKeyOf(user_id)}))),
          EncodedDelta(user_id, 7)};
}

std::string BlockOf(const std::vector<OwnRow>& rows) {
  RowBlockWriter writer;
  for (const OwnRow& row : rows) writer.Add({row.op, row.key, row.value});
  std::string block;
  writer.Finish(block);
  return block;
}

std::vector<OwnRow> RowsOf(const RowBatch& batch) {
  std::vector<OwnRow> rows;
  const auto add = [&](const Row& r) { rows.push_back({r.op, std::string(r.key), std::string(r.value)}); };
  for (size_t i = 0; i < batch.ranges(); ++i) add(batch.GetRange(i));
  for (size_t i = 0; i < batch.rows(); ++i) add(batch.GetRow(i));
  return rows;
}

TEST(RowBlock, ReadsAsItWasWritten) {
  const std::vector<OwnRow> rows = {
      {RowOp::kDeleteRange, "\x21", std::string("\x21\0\0\1", 4)},
      {RowOp::kPut, std::string("\0", 1), "position"},
      {RowOp::kPut, std::string("\0\1", 2), ""},
      DeltaRow("u1"),
      DeltaRow("u2"),
      DeltaRow("u1", FilterId{1}, RowOp::kPut),
      {RowOp::kMerge, std::string(View(KeyOf(Table::kDeltas, {FilterId{1}, UserKeyOf("u9")}))), "no delta"},
      {RowOp::kPut, std::string(View(KeyOf(Table::kMarks, {FilterId{1}, UserKeyOf("u9")}))), "u9"},
      {RowOp::kPut, std::string(View(KeyOf(Table::kMarks, {FilterId{2}, UserKeyOf("u9")}))), "of another"},
      {RowOp::kPut, std::string(View(KeyOf(Table::kMarks, {FilterId{3}, UserKeyOf("u9")}))), ""},
      {RowOp::kDelete, std::string(View(KeyOf(Table::kMarks, {FilterId{4}, UserKeyOf("u9")}))), ""},
  };
  RowBatch batch;
  ASSERT_TRUE(ReadRowBlock(BlockOf(rows), batch));
  EXPECT_EQ(RowsOf(batch), rows);
}

// A block leaves out a key that follows from the user id in the value. If the key belongs to another user,
// the block writes the key.
TEST(RowBlock, KeepsAKeyThatIsNotTheUsersOwn) {
  OwnRow row = DeltaRow("u1");
  row.key = std::string(View(KeyOf(Table::kDeltas, {FilterId{0}, UserKeyOf("u2")})));
  RowBatch batch;
  ASSERT_TRUE(ReadRowBlock(BlockOf({row}), batch));
  EXPECT_EQ(RowsOf(batch), std::vector<OwnRow>{row});
}

TEST(RowBlock, TakesAThirdOfTheBytesOfRowsWithTheirKeys) {
  std::vector<OwnRow> rows;
  size_t bytes = 0;
  for (int i = 0; i < 2000; ++i) {
    rows.push_back(DeltaRow("user-" + std::to_string(1'000'000 + i)));
    bytes += rows.back().key.size() + rows.back().value.size();
  }
  EXPECT_LT(BlockOf(rows).size(), bytes / 3);
}

TEST(RowBlock, BlocksOfOneWriterAreReadEachOnItsOwn) {
  RowBlockWriter writer;
  const OwnRow first = DeltaRow("u1");
  const OwnRow second = DeltaRow("u2");
  std::string blocks[2];
  writer.Add({first.op, first.key, first.value});
  EXPECT_FALSE(writer.empty());
  writer.Finish(blocks[0]);
  EXPECT_TRUE(writer.empty());
  writer.Add({second.op, second.key, second.value});
  writer.Finish(blocks[1]);
  RowBatch batch;
  ASSERT_TRUE(ReadRowBlock(blocks[1], batch));
  EXPECT_EQ(RowsOf(batch), std::vector<OwnRow>{second});
}

TEST(RowBlock, IsFullAtItsBytes) {
  RowBlockWriter writer;
  const std::string value(kBlockBytes / 2, 'v');
  writer.Add({RowOp::kPut, "a", value});
  EXPECT_FALSE(writer.IsFull());
  writer.Add({RowOp::kPut, "b", value});
  EXPECT_TRUE(writer.IsFull());
}

// Damage never gives another row, because the compressed bytes carry a checksum.
TEST(RowBlock, DamageIsCorruptAndNeverAnotherRow) {
  const std::vector<OwnRow> rows = {DeltaRow("u1"), DeltaRow("u2"), DeltaRow("u3")};
  const std::string block = BlockOf(rows);
  for (size_t length = 0; length < block.size(); ++length) {
    RowBatch batch;
    const Status read = ReadRowBlock(block.substr(0, length), batch);
    ASSERT_FALSE(read) << length;
    EXPECT_EQ(read.error().code, Code::kCorrupt);
  }
  for (size_t bit = 0; bit < 8 * block.size(); ++bit) {
    std::string damaged = block;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    RowBatch batch;
    // A few bits of a frame's header don't affect its content.
    if (ReadRowBlock(damaged, batch)) {
      EXPECT_EQ(RowsOf(batch), rows) << bit;
    }
  }
}

}  // namespace
}  // namespace seen::test
