#include "decode/event_decoder.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "unit/decode/event_cases.h"

namespace seen {
namespace {

std::vector<std::string> ItemIds(const Event& event) {
  std::vector<std::string> ids;
  for (const ExposedItem& item : event.items) ids.emplace_back(item.item_id);
  return ids;
}

bool MessageMatches(std::string_view message, std::string_view expected) {
  if (!expected.ends_with('*')) return message == expected;
  return message.starts_with(expected.substr(0, expected.size() - 1));
}

TEST(EventDecoder, AcceptsTheGoodAndNamesWhatIsWrongWithTheBad) {
  ASSERT_GE(EventCases().size(), 60u);
  EventDecoder decoder(kCaseEventBytesMax);
  std::set<std::string_view> names;
  for (const EventCase& c : EventCases()) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(names.insert(c.name).second) << "two cases of one name";
    const auto event = decoder.Decode(c.payload);
    if (!c.reason) {
      ASSERT_TRUE(event) << event.error().message;
      EXPECT_EQ(event->user_id, c.user_id);
      EXPECT_EQ(event->exposed_at.value, c.exposed_at);
      EXPECT_EQ(ItemIds(*event), c.item_ids);
      for (const ExposedItem& item : event->items) EXPECT_EQ(item.fingerprint, FingerprintOf(item.item_id));
    } else {
      ASSERT_FALSE(event);
      EXPECT_EQ(RejectReasonName(event.error().reason), RejectReasonName(*c.reason));
      EXPECT_EQ(event.error().field, c.field);
      EXPECT_TRUE(MessageMatches(event.error().message, c.message)) << event.error().message;
    }
  }
}

TEST(EventDecoder, ReadsNothingBeyondThePayload) {
  // The heap block ends where the payload ends, so a sanitizer sees a read beyond it.
  EventDecoder decoder(1000);
  const std::string_view text = R"({"user_id":"u1","item_id":"n1","exposed_at":12})";
  for (size_t size = 0; size <= text.size(); ++size) {
    const auto payload = std::make_unique<char[]>(size);
    std::copy_n(text.data(), size, payload.get());
    EXPECT_EQ(decoder.Decode({payload.get(), size}).has_value(), size == text.size()) << size;
  }
}

TEST(EventDecoder, AppliesItsOwnSizeLimit) {
  const std::string_view payload = R"({"user_id":"u1","item_id":"n1","exposed_at":12})";
  EXPECT_TRUE(EventDecoder(payload.size()).Decode(payload));
  const auto event = EventDecoder(payload.size() - 1).Decode(payload);
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().reason, RejectReason::kTooLarge);
}

TEST(EventDecoder, WorksOnAfterARejectionAndAfterAMove) {
  EventDecoder first(1000);
  EXPECT_FALSE(first.Decode("{"));
  EventDecoder second = std::move(first);
  EXPECT_FALSE(second.Decode(R"({"user_id":"u1","items":[1,2,null],"exposed_at":1})"));
  const auto event = second.Decode(R"({"user_id":8,"item_id":9,"exposed_at":1})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->user_id, "8");
  EXPECT_EQ(ItemIds(*event), std::vector<std::string>{"9"});
}

TEST(EventDecoder, SurvivesArbitraryBytes) {
  std::mt19937_64 random(20251121);
  EventDecoder decoder(4096);
  // Uniform bytes seldom look like JSON. Bytes of this alphabet often do.
  const std::string_view alphabet = "{}[]:,\"\\u0d8eE+-.1234567890tfnraslul \n\x80\xff";
  for (int round = 0; round < 40'000; ++round) {
    std::string bytes(random() % 120, '\0');
    for (char& byte : bytes) {
      byte = round % 2 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    }
    const auto event = decoder.Decode(bytes);
    ASSERT_FALSE(event);
    ASSERT_FALSE(event.error().message.empty());
  }
}

}  // namespace
}  // namespace seen
