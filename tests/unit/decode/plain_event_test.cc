#include "decode/plain_event.h"

#include <gtest/gtest.h>

#include <string>

namespace seen {
namespace {

EventBuffers buffers;
PlainEventReader reader(EventPlan::Default());

std::optional<Event> Read(std::string_view payload) {
  Event event;
  return reader.Read(payload, buffers, event) ? std::optional(event) : std::nullopt;
}
bool IsPlain(std::string_view payload) { return Read(payload).has_value(); }

TEST(PlainEvent, IsWhatFrontEndsSend) {
  EXPECT_TRUE(IsPlain(R"({"user_id":"u538453d7","item_id":"n436517cb","exposed_at":1795268308603,)"
                      R"("scene":"video_tab","position":1,"request_id":"rf893a2eefb32555e"})"));
  EXPECT_TRUE(IsPlain(R"({"user_id":7,"item_id":-5,"exposed_at":0,"scene":null,"new":true,"other":"x"})"));
  EXPECT_TRUE(IsPlain(R"({"exposed_at":1,"user_id":"u","items":["n1",2,{"item_id":"n3","position":null}]})"));
  EXPECT_TRUE(IsPlain(" { \"user_id\" : \"曝光\" ,\n\"item_id\":\"n1\",\t\"exposed_at\": 1 }\r\n"));
}

TEST(PlainEvent, LeavesTheRestToTheDocument) {
  for (const std::string_view payload : {
           R"({"user_id":"u\u0031","item_id":"n1","exposed_at":1})",        // an escape
           R"({"user_id":"u1","item_id":"n1","exposed_at":1,"scene":{}})",  // nested
           R"({"user_id":"u1","item_id":"n1","exposed_at":1,"position":1.5})",
           R"({"user_id":"u1","item_id":"n1","exposed_at":1,"scene":"\ud83d\ude00"})",
           R"({"user_id":"u1","item_id":"n1","exposed_at":1,"ratio":5e100})",  // too great for a float
           R"({"user_id":"u1","user_id":"u2","item_id":"n1","exposed_at":1})",
           R"({"user_id":"u1","item_id":1234567890123456789,"exposed_at":1})",  // 19 digits
           "{\"user_id\":\"u\xff\",\"item_id\":\"n1\",\"exposed_at\":1}",
           R"({"user_id":"u1","item_id":"n1","exposed_at":-1})",
           R"({"user_id":"u1","item_id":"n1","exposed_at":1}{)",
           R"({})",
           "",
       }) {
    EXPECT_FALSE(IsPlain(payload)) << payload;
  }
}

TEST(PlainEvent, IsReadAlikeWhateverShapeTheOneBeforeHad) {
  const std::string_view payloads[] = {
      R"({"user_id":"u1","item_id":"n1","exposed_at":1,"scene":"s"})",
      R"({"item_id":"n1","user_id":"u1","exposed_at":1,"scene":"s"})",
      R"({ "user_id" :"u1","item_id":"n1","exposed_at":1,"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,)"
      R"("j":1,"k":2,"l":3,"m":4,"a_name_too_long_to_be_remembered":5})",
      R"({"user_id":"u1","items":[{"position":1,"item_id":"n1"}],"exposed_at":1})",
      R"({"user_id":"u1","items":[{"item_id":"n1","position":1}],"exposed_at":1})"};
  for (const std::string_view first : payloads) {
    for (const std::string_view second : payloads) {
      EXPECT_TRUE(IsPlain(first));
      const auto event = Read(second);
      ASSERT_TRUE(event) << first << " then " << second;
      EXPECT_EQ(event->user_id, "u1");
      EXPECT_EQ(event->items[0].item_id, "n1");
    }
  }
  // By the remembered shape a name or a value comes next, but the text has none.
  EXPECT_TRUE(IsPlain(R"({"user_id":"u1","item_id":"n1","exposed_at":1})"));
  EXPECT_FALSE(IsPlain(R"({"user_id":"u1","item_id":"n1"})"));
  EXPECT_FALSE(IsPlain(R"({"user_id":"u1","item_id":"n1","exposed_at":)"));
}

TEST(PlainEvent, PointsIntoThePayload) {
  const std::string payload = R"({"user_id":"u1","items":["n1"],"exposed_at":12})";
  const auto event = Read(payload);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->user_id.data(), payload.data() + payload.find("u1"));
  ASSERT_EQ(event->items.size(), 1u);
  EXPECT_EQ(event->items[0].item_id.data(), payload.data() + payload.find("n1"));
  EXPECT_EQ(event->exposed_at.value, 12);
}

TEST(PlainEvent, ReadsIntegersOfEveryLength) {
  EventFormat format;
  format.wanted.position = true;
  PlainEventReader details(*EventPlan::Make(format));
  for (int digits = 1; digits <= 18; ++digits) {
    for (const char first : {'1', '4', '9'}) {
      std::string number(1, first);
      for (int i = 1; i < digits; ++i) number += static_cast<char>('0' + (i * 7 + first) % 10);
      for (const char* const sign : {"", "-"}) {
        Event event;
        ASSERT_TRUE(details.Read(R"({"user_id":"u","item_id":"n","exposed_at":1,"position":)" +
                                     (sign + number) + R"(,"more":"text"})",
                                 buffers, event));
        EXPECT_EQ(event.details[0].position, std::stoll(sign + number));
      }
      const bool in_range = std::stoll(number) < int64_t{1000} << 32;
      const auto event = Read(R"({"user_id":"u","item_id":"n","exposed_at":)" + number + "}");
      ASSERT_EQ(event.has_value(), in_range) << number;
      if (event) {
        EXPECT_EQ(event->exposed_at.value, std::stoll(number));
      }
    }
  }
}

TEST(PlainEvent, PassesOverWhatNobodyLooksFor) {
  const auto event = Read(
      R"({"scene":"\u66dd","geo":{"city":"x","at":[1.5,{"user_id":"no"}]},"user_id":"u1","title":"\u66dd\n",)"
      R"("items":[{"ctx":{"item_id":"no"},"item_id":"n1"},{"item_id":"n2","score":0.25}],)"
      R"("exposed_at":1,"tags":[]})");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->user_id, "u1");
  ASSERT_EQ(event->items.size(), 2u);
  EXPECT_EQ(event->items[0].item_id, "n1");
  EXPECT_EQ(event->items[1].item_id, "n2");
  EXPECT_FALSE(IsPlain("{\"user_id\":\"u1\",\"item_id\":\"n1\",\"exposed_at\":1,\"x\":[\"\xff\"]}"));
}

}  // namespace
}  // namespace seen
