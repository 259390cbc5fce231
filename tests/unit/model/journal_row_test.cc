#include "model/journal_row.h"

#include <gtest/gtest.h>

#include <random>

namespace seen {
namespace {

std::string Encoded(const JournalRow& row) {
  std::string bytes;
  EncodeJournalRow(row, bytes);
  return bytes;
}

TEST(JournalRow, ComesBackAsItWas) {
  const JournalRow rows[] = {
      {0, {0}, "", "", {{"a", {}}}},
      {1, {0, 1, 2}, "home", "r-1", {{"a", 1}, {"b", 2}, {"c", 3}}},
      {17, {5, 65'535}, "", "r", {{"a", {}}, {"b", -7}, {"c", {}}, {"d", -7}}},
      {2, {9}, "首页", "", {{std::string_view("\0x", 2), kJournalPositionMax}, {"b", -kJournalPositionMax}}},
  };
  JournalRow back;
  for (const JournalRow& row : rows) {
    const std::string bytes = Encoded(row);
    ASSERT_TRUE(DecodeJournalRow(bytes, back));
    EXPECT_EQ(back, row);
  }
}

TEST(JournalRow, TakesFourBytesMoreThanItsTextsWhereItSaysNothingElse) {
  EXPECT_EQ(Encoded({0, {0}, "", "", {{"12345678", {}}}}).size(), 8u + 6u);
  // A position that follows the previous position takes one byte.
  EXPECT_EQ(Encoded({0, {0}, "", "", {{"a", 0}, {"b", 1}, {"c", 2}}}).size(), 5u + 3 * 3u);
}

TEST(JournalRow, CutsLongTextsBetweenCharactersAndClampsPositions) {
  std::string scene = std::string(kJournalTextBytesMax - 1, 's') + "首";
  const std::string request(600, 'r');
  JournalRow back;
  const std::string bytes = Encoded({0, {0}, scene, request, {{"a", INT64_MAX}, {"b", INT64_MIN}}});
  ASSERT_TRUE(DecodeJournalRow(bytes, back));
  EXPECT_EQ(back.scene, std::string(kJournalTextBytesMax - 1, 's'));
  EXPECT_EQ(back.request_id, std::string(kJournalTextBytesMax, 'r'));
  EXPECT_EQ(back.items[0].position, kJournalPositionMax);
  EXPECT_EQ(back.items[1].position, -kJournalPositionMax);
}

TEST(JournalRow, RefusesWhatItDidNotWrite) {
  const std::string good = Encoded({1, {0, 3}, "home", "r-1", {{"a", 1}, {"b", {}}}});
  JournalRow row;
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(DecodeJournalRow(good.substr(0, size), row));
  EXPECT_FALSE(DecodeJournalRow(good + '\0', row));
  std::string other_version = good;
  other_version[0] = '\x27';
  EXPECT_FALSE(DecodeJournalRow(other_version, row));
  using namespace std::string_literals;
  EXPECT_FALSE(DecodeJournalRow("\x10\0\0\x01\x01"s + "a", row)) << "no filter";
  EXPECT_FALSE(DecodeJournalRow("\x10\0\x01\0\0"s, row)) << "no item";
  EXPECT_FALSE(DecodeJournalRow("\x11\0\x01\0\0\x01\x01"s + "a", row)) << "an empty scene";
  EXPECT_FALSE(DecodeJournalRow("\x14\0\x01\0\x01\x01"s + "a\0"s, row)) << "positions, and none";
  EXPECT_FALSE(DecodeJournalRow("\x10\0\x81\0\0\x01\x01"s + "a", row)) << "a varint longer than needed";
}

TEST(JournalRow, EveryByteStringIsARowThatEncodesToItOrNone) {
  std::mt19937_64 random(7);
  JournalRow row;
  size_t rows = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string bytes = Encoded({1, {0}, "h", "r", {{"a", 1}, {"bc", 9}}});
    for (size_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 4 != 0 ? random() % 8 : random());
    }
    if (!DecodeJournalRow(bytes, row)) continue;
    ++rows;
    ASSERT_EQ(Encoded(row), bytes);
  }
  EXPECT_GT(rows, 1000u);
}

}  // namespace
}  // namespace seen
