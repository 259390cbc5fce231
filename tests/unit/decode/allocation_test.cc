#include <gtest/gtest.h>

#include "decode/event_decoder.h"
#include "unit/decode/counting_new.h"
#include "unit/decode/event_cases.h"
#include "unit/decode/format_of.h"

namespace seen {
namespace {

TEST(EventDecoder, AllocatesNothingForAnAcceptedEventOnceWarm) {
  EventDecoder decoder(kCaseEventBytesMax);
  for (const EventCase& c : EventCases()) (void)decoder.Decode(c.payload);

  uint64_t accepted = 0;
  const uint64_t before = AllocationCount();
  for (const EventCase& c : EventCases()) {
    if (!c.reason) accepted += decoder.Decode(c.payload).has_value();
  }
  EXPECT_EQ(AllocationCount() - before, 0u);
  EXPECT_GT(accepted, 30u);
}

TEST(EventDecoder, AllocatesNothingForAnotherFormatEither) {
  EventFormat format;
  format.wanted = {true, true, true, true, true};
  SetField(format, Field::kUserId, "/data/uid");
  SetField(format, Field::kItems, "/data/pages/*/items");
  format.kinds = std::vector{KindMapping{"show", "exposed"}, KindMapping{"ping", std::nullopt}};
  format.only_if = {AnyOf("/app", {"x"})};
  format.filters = {{{"home*"}, {BeginsWith("/os", "i")}}};
  EventDecoder decoder(kCaseEventBytesMax, *EventPlan::Make(format));
  const std::string_view payloads[] = {
      R"({"app":"x","os":"ios","scene":"home","kind":"show","exposed_at":1,"data":{"uid":5,"pages":[)"
      R"({"items":[1,2,{"item_id":3,"position":4,"item_created_at":5}]},{"items":["n","{\"item_id\":6}"]}]}})",
      R"({"app":"x","kind":"ping"})", R"({"app":"y"})"};
  for (const std::string_view payload : payloads) ASSERT_TRUE(decoder.Decode(payload));
  const uint64_t before = AllocationCount();
  for (const std::string_view payload : payloads) ASSERT_TRUE(decoder.Decode(payload));
  EXPECT_EQ(AllocationCount() - before, 0u);
}

TEST(EventDecoder, AllocatesSeldomWhileEventsGrow) {
  EventDecoder decoder(kCaseEventBytesMax);
  std::string payload = R"({"user_id":"u1","item_id":"n1","exposed_at":1})";
  const uint64_t before = AllocationCount();
  uint64_t own = 0;
  for (int i = 0; i < 60'000; ++i) {
    const uint64_t start = AllocationCount();
    payload += ' ';
    own += AllocationCount() - start;
    ASSERT_TRUE(decoder.Decode(payload));
  }
  EXPECT_LT(AllocationCount() - before - own, 60u);
}

TEST(AllocationCount, CountsAnAllocation) {
  const uint64_t before = AllocationCount();
  const auto memory = std::make_unique<std::string>(100, 'x');
  EXPECT_GE(AllocationCount() - before, 2u) << memory->size();
}

}  // namespace
}  // namespace seen
