#include "state_stream/state_record.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace seen::test {
namespace {

StateOpening ExampleOpening() { return {"seen", "seen-1", "0.1.0", true, {1'763'700'000'123}, 1000, 7}; }

StatePart ExamplePart() {
  StatePart part{StreamKind::kRun, 40, 3, 0, true, true, 17, 1000, 2500};
  part.verified = {{"seen-home", 12}, {"seen-video", 900}};
  return part;
}

TEST(StateRecord, AnOpeningIsReadAsItWasWritten) {
  for (const bool takeover : {false, true}) {
    StateOpening opening = ExampleOpening();
    opening.takeover = takeover;
    std::string bytes;
    EncodeStateOpening(opening, bytes);
    const auto decoded = DecodeStateRecord(bytes);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(std::get<StateOpening>(*decoded), opening);
  }
}

TEST(StateRecord, APartIsReadAsItWasWritten) {
  for (const bool later : {false, true}) {
    StatePart part = ExamplePart();
    if (later) {
      part.part = 5;
      part.verified.clear();
      part.is_last = part.ends_block = false;
      part.behind_gap = true;
    }
    std::string bytes;
    EncodeStatePart(part, bytes);
    bytes += "block";
    const auto decoded = DecodeStateRecord(bytes);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(std::get<ReadStatePart>(*decoded).head, part);
    EXPECT_EQ(std::get<ReadStatePart>(*decoded).bytes, "block");
  }
}

TEST(StateRecord, OfAnotherVersionOrTypeIsRefused) {
  std::string bytes;
  EncodeStateOpening(ExampleOpening(), bytes);
  std::string newer = bytes;
  newer[0] = 2;
  EXPECT_EQ(DecodeStateRecord(newer).error().code, Code::kRefused);
  std::string other = bytes;
  other[1] = 99;
  EXPECT_EQ(DecodeStateRecord(other).error().code, Code::kRefused);
}

TEST(StateRecord, NamesOnlyOffsetsThatTheTopicCanHave) {
  constexpr int64_t kBeyond = int64_t{1} << 62;
  const auto opening = [](int64_t base_at) {
    std::string bytes;
    EncodeStateOpening({"seen", "seen-1", "0.1.0", false, {1}, 0, base_at}, bytes);
    return bytes;
  };
  const auto part = [](int64_t epoch, int64_t base_at) {
    StatePart head;
    head.epoch = epoch;
    head.base_at = base_at;
    std::string bytes;
    EncodeStatePart(head, bytes);
    return bytes;
  };
  for (const std::string& good : {opening(kNoOffset), opening(8), part(8, kNoOffset), part(0, 9)})
    EXPECT_TRUE(DecodeStateRecord(good, 9));
  for (const std::string& bad : {opening(kBeyond), opening(10), part(9, kNoOffset), part(8, kBeyond)})
    EXPECT_EQ(DecodeStateRecord(bad, 9).error().code, Code::kMalformed);
}

TEST(StateRecord, ShortenedOrImplausibleIsMalformed) {
  std::string opening;
  EncodeStateOpening(ExampleOpening(), opening);
  for (size_t length = 0; length < opening.size(); ++length)
    EXPECT_EQ(DecodeStateRecord(opening.substr(0, length)).error().code, Code::kMalformed) << length;
  EXPECT_EQ(DecodeStateRecord(opening + "x").error().code, Code::kMalformed);
  std::string part;
  EncodeStatePart(ExamplePart(), part);
  for (size_t length = 0; length < part.size(); ++length)
    EXPECT_EQ(DecodeStateRecord(part.substr(0, length)).error().code, Code::kMalformed) << length;
  for (const auto& spoil :
       {+[](StatePart& p) { p.from = p.to + 1; }, +[](StatePart& p) { p.epoch = -1; },
        +[](StatePart& p) { p.base_at = -2; }, +[](StatePart& p) { p.from = -1; },
        +[](StatePart& p) { p.ends_block = false; }, +[](StatePart& p) { p.kind = StreamKind::kBase; }}) {
    StatePart spoilt = ExamplePart();
    spoil(spoilt);
    std::string bytes;
    EncodeStatePart(spoilt, bytes);
    EXPECT_EQ(DecodeStateRecord(bytes).error().code, Code::kMalformed);
  }
}

}  // namespace
}  // namespace seen::test
