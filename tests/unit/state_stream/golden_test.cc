// Compares the bytes that schemas/state.md specifies with a file. The file changes only if the format
// changes. SEEN_WRITE_GOLDEN=1 writes the file. Compressed bytes depend on the version of Zstandard, so the
// test only reads them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "state_stream/part_reader.h"
#include "stream_fixture.h"

namespace seen::test {
namespace {

std::string Hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return hex;
}

std::string Bytes(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

constexpr std::string_view kPath = SEEN_SOURCE_DIR "/tests/golden/state/records.txt";

std::map<std::string, std::string> Stored() {
  std::map<std::string, std::string> stored;
  std::ifstream stream{std::string(kPath)};
  for (std::string line; std::getline(stream, line);) {
    const size_t colon = line.find(": ");
    stored[line.substr(0, colon)] = Bytes(line.substr(colon + 2));
  }
  return stored;
}

RowBatch ExampleRows() {
  RowBatch rows;
  const auto key = [](Table table, int filter, const std::string& user) {
    return std::string(View(KeyOf(table, {FilterId{static_cast<size_t>(filter)}, UserKeyOf(user)})));
  };
  rows.Add({RowOp::kDeleteRange, std::string("\x21\0\0\0\0", 5), std::string("\x21\0\0\0\x9", 5)});
  rows.Add({RowOp::kPut, PositionKey(), "a position"});
  rows.Add({RowOp::kPut, DescriptorKey(), "a descriptor"});
  std::map<std::string, std::string> deltas;
  for (const char* const user : {"u1", "u2"}) deltas[key(Table::kDeltas, 0, user)] = DeltaOf(7, user);
  for (const auto& [delta_key, delta] : deltas) rows.Add({RowOp::kMerge, delta_key, delta});
  rows.Add({RowOp::kPut, key(Table::kMarks, 0, "u1"), "u1"});
  rows.Add({RowOp::kDelete, key(Table::kMarks, 1, "u1"), ""});
  return rows;
}

StatePart ExampleHead() {
  StatePart head = RunHead(5, 2, 1000, 2500);
  head.base_at = 17;
  head.verified = {{"seen-filters", 40}};
  return head;
}

TEST(Golden, HeadsOfRecords) {
  StateOpening opening{"seen", "seen-1", "0.1.0", true, {1'763'700'000'123}, 1000, 17};
  std::map<std::string, std::string> now;
  EncodeStateOpening(opening, now["opening, takeover"]);
  EncodeStatePart(ExampleHead(), now["part 0 of a run, its block left out"]);
  StatePart last = ExampleHead();
  last.kind = StreamKind::kBase;
  last.from = last.to;
  last.part = 3;
  last.is_last = true;
  EncodeStatePart(last, now["part 3 of a base, the last, its block left out"]);
  auto stored = Stored();
  if (std::getenv("SEEN_WRITE_GOLDEN") != nullptr) {
    now["run of one part"] = RecordsOf(ExampleHead(), ExampleRows()).at(0);
    std::string lines;
    for (const auto& [name, bytes] : now) lines += name + ": " + Hex(bytes) + "\n";
    std::ofstream(std::string(kPath)) << lines;
    stored = Stored();
  }
  for (const auto& [name, bytes] : now) EXPECT_EQ(Hex(stored[name]), Hex(bytes)) << name;
}

TEST(Golden, AStoredRunIsRead) {
  const auto stored = Stored();
  const auto decoded = DecodeStateRecord(stored.at("run of one part"));
  ASSERT_TRUE(decoded);
  const auto& part = std::get<ReadStatePart>(*decoded);
  StatePart head = ExampleHead();
  head.is_last = true;
  EXPECT_EQ(part.head, head);
  RowBatch rows;
  PartReader reader(part.head);
  ASSERT_TRUE(reader.Take(part, rows));
  EXPECT_TRUE(reader.is_whole());
  const RowBatch expected = ExampleRows();
  ASSERT_EQ(rows.rows(), expected.rows());
  ASSERT_EQ(rows.ranges(), expected.ranges());
  for (size_t i = 0; i < rows.rows(); ++i) EXPECT_EQ(rows.GetRow(i), expected.GetRow(i)) << i;
  EXPECT_EQ(rows.GetRange(0), expected.GetRange(0));
}

}  // namespace
}  // namespace seen::test
