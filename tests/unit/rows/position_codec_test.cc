#include "rows/position_codec.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace seen::test {
namespace {

Position Example(size_t ranges) {
  Position position{1'000, {1'763'700'000'123}, {999, {1'763'700'000'000}, 0xfeedfacecafebeefu}, {}, {}};
  for (size_t i = 0; i < ranges; ++i) {
    const auto from = static_cast<int64_t>(i * 10);
    position.lost_ranges.push_back({from, from + 4, {1'763'600'000'000 + from}});
  }
  return position;
}

TEST(PositionCodec, DecodesToWhatWasEncoded) {
  for (const Position& position : {Position{}, Example(0), Example(1), Example(kLostRangesMax)}) {
    EXPECT_EQ(*DecodePosition(EncodePosition(position)), position);
  }
}

TEST(PositionCodec, MergesTheOldestRangesWhereTheyAreTooMany) {
  for (const size_t ranges : {kLostRangesMax + 1, kLostRangesMax + 5, size_t{300}}) {
    const Position many = Example(ranges);
    const Position kept = *DecodePosition(EncodePosition(many));
    ASSERT_EQ(kept.lost_ranges.size(), kLostRangesMax);
    const size_t merged = ranges - kLostRangesMax + 1;
    const LostRange oldest{0, many.lost_ranges[merged - 1].to, many.lost_ranges[merged - 1].noticed_at};
    EXPECT_EQ(kept.lost_ranges.front(), oldest);
    EXPECT_TRUE(std::equal(kept.lost_ranges.begin() + 1, kept.lost_ranges.end(),
                           many.lost_ranges.begin() + static_cast<std::ptrdiff_t>(merged)));
  }
}

TEST(PositionCodec, RefusesWhatItCannotHaveWritten) {
  const std::string bytes = EncodePosition(Example(2));
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto shortened = DecodePosition(bytes.substr(0, length));
    ASSERT_FALSE(shortened) << length;
    EXPECT_EQ(shortened.error().code, Code::kCorrupt);
  }
  EXPECT_FALSE(DecodePosition(bytes + '\0'));
  std::string newer = bytes;
  newer[0] = 2;
  EXPECT_FALSE(DecodePosition(newer));
}

TEST(PositionRows, DecodeToWhatWasEncodedAndRefuseEverythingElse) {
  Position position = Example(1);
  EXPECT_EQ(*DecodePositionRows({}), std::nullopt);
  for (const int64_t generation : {0, 7}) {
    for (const int64_t ahead : {0, 5}) {
      position.generation = generation;
      position.read_to = ahead > 0 ? position.next_offset + ahead : 0;
      const PositionRows rows = EncodePositionRows(position);
      EXPECT_FALSE(rows[1]) << "no filter has anything to say";
      EXPECT_EQ(rows[2].has_value(), generation + ahead > 0);
      EXPECT_EQ(**DecodePositionRows(rows), position);
      if (!rows[2]) continue;
      for (const std::string& wrong : {rows[2]->substr(1), *rows[2] + '\0', std::string(8, '\0'),
                                       std::string(8, '\xff'), std::string()}) {
        const auto decoded = DecodePositionRows({rows[0], rows[1], wrong});
        ASSERT_FALSE(decoded) << wrong.size();
        EXPECT_EQ(decoded.error().code, Code::kCorrupt);
      }
    }
  }
}

TEST(WholenessCodec, DecodesToWhatWasEncodedAndRefusesEverythingElse) {
  const std::vector<FilterWholeness> filters{{0, {1'763'700'000'123}, false, 30, LastPublished::kKept},
                                             {2, {0}, true, 7, LastPublished::kUnread},
                                             {3, kNotRecorded, false, 90, LastPublished::kInState}};
  const std::string bytes = EncodeWholeness(filters);
  EXPECT_EQ(*DecodeWholeness(bytes), filters);
  std::vector<std::string> wrong{bytes + '\0'};
  for (size_t length = 0; length < bytes.size(); ++length) wrong.push_back(bytes.substr(0, length));
  const auto with = [&](size_t at, char value) {
    wrong.push_back(bytes);
    wrong.back()[at] = value;
  };
  constexpr size_t kFirst = 3, kFilterBytes = 16;
  with(0, 2);                          // version
  with(kFirst + 10, 2);                // an invalid flag
  with(kFirst + kFilterBytes - 1, 3);  // an unknown LastPublished
  with(kFirst + kFilterBytes, 0);      // the same filter twice
  for (const std::string& one : wrong) {
    const auto decoded = DecodeWholeness(one);
    ASSERT_FALSE(decoded) << one.size();
    EXPECT_EQ(decoded.error().code, Code::kCorrupt);
  }
}

}  // namespace
}  // namespace seen::test
