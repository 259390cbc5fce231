// The cost of decoding an event, by its shape. Each shape has 1,024 different events, in warm caches.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "decode/event_decoder.h"

namespace seen::micro {
namespace {

constexpr size_t kEvents = 1024;
constexpr size_t kEventBytesMax = size_t{1} << 20;

using Random = std::mt19937_64;

std::string Hex(Random& random, std::string_view prefix, int digits) {
  std::string text(prefix);
  for (int i = 0; i < digits; ++i) text += "0123456789abcdef"[random() % 16];
  return text;
}
std::string Time(Random& random) { return std::to_string(1763700000000 + random() % 1'000'000'000); }

// An event as seenctl generate writes it.
std::string Single(Random& random, std::string_view rest = "") {
  return R"({"user_id":")" + Hex(random, "u", 8) + R"(","item_id":")" + Hex(random, "n", 8) +
         R"(","exposed_at":)" + Time(random) + R"(,"scene":"video_tab","position":)" +
         std::to_string(random() % 50) + R"(,"request_id":")" + Hex(random, "r", 16) + '"' +
         std::string(rest) + "}";
}

std::string Batch(Random& random, bool objects) {
  std::string items;
  for (int i = 0; i < 20; ++i) {
    const std::string id = '"' + Hex(random, "n", 8) + '"';
    items += i > 0 ? "," : "";
    items += objects ? R"({"item_id":)" + id + R"(,"position":)" + std::to_string(i) + "}" : id;
  }
  return R"({"user_id":")" + Hex(random, "u", 8) + R"(","exposed_at":)" + Time(random) +
         R"(,"scene":"video_tab","items":[)" + items + "]}";
}

void Decode(benchmark::State& state, EventDecoder decoder, std::string (*make)(Random&)) {
  Random random(1);
  std::vector<std::string> events(kEvents);
  for (std::string& event : events) event = make(random);
  size_t next = 0;
  for (auto _ : state) {
    const auto event = decoder.Decode(events[next++ % kEvents]);
    if (!event) std::abort();
    benchmark::DoNotOptimize(event->items.data());
  }
}

std::string PlainSingle(Random& random) { return Single(random); }
std::string PlainIds(Random& random) { return Batch(random, false); }
std::string PlainObjects(Random& random) { return Batch(random, true); }
std::string NestedSingle(Random& random) { return Single(random, R"(,"geo":{"city":"x","lat":1.5})"); }
std::string DocumentSingle(Random& random) { return Single(random, R"(,"scene":"home")"); }

void DecodeSingle(benchmark::State& state) { Decode(state, EventDecoder(kEventBytesMax), PlainSingle); }
void DecodeTwentyIds(benchmark::State& state) { Decode(state, EventDecoder(kEventBytesMax), PlainIds); }
void DecodeTwentyObjects(benchmark::State& state) {
  Decode(state, EventDecoder(kEventBytesMax), PlainObjects);
}
// With a nested field that the decoder doesn't look for.
void DecodeNested(benchmark::State& state) { Decode(state, EventDecoder(kEventBytesMax), NestedSingle); }
// Events that aren't plain, here with a known name twice. An escape in an id would do the same.
void DecodeByDocument(benchmark::State& state) {
  Decode(state, EventDecoder(kEventBytesMax), DocumentSingle);
}

EventDecoder DecoderOf(const EventFormat& format) {
  return EventDecoder(kEventBytesMax, *EventPlan::Make(format));
}

// The daemon's default: it reads the kind if the event has one.
void DecodeSingleKind(benchmark::State& state) {
  EventFormat format;
  format.wanted.kind = true;
  Decode(state, DecoderOf(format), PlainSingle);
}
void DecodeSingleEverything(benchmark::State& state) {
  EventFormat format;
  format.wanted = {true, true, true, true, true};
  Decode(state, DecoderOf(format), PlainSingle);
}
// Three filters: one for all events, one by scene and one by an attribute.
void DecodeSingleCoverage(benchmark::State& state) {
  EventFormat format;
  format.filters = {
      {},
      {{"home*"}, {}},
      {{}, {{*ParseJsonPointer("/scene"), Condition::Test::kPrefix, {{ScalarKind::kString, "video"}}}}}};
  Decode(state, DecoderOf(format), PlainSingle);
}
// One level, with other field names, and times in seconds.
std::string RenamedSingle(Random& random) {
  return R"({"event":"item_show","uid":")" + Hex(random, "u", 8) + R"(","nid":")" + Hex(random, "n", 8) +
         R"(","ts":)" + std::to_string(1763700000 + random() % 1'000'000) + R"(,"page":"video_tab","pos":)" +
         std::to_string(random() % 50) + R"(,"trace":")" + Hex(random, "r", 16) + R"("})";
}
void Set(EventFormat& format, Field field, std::string_view pointer,
         TimeUnit unit = TimeUnit::kMilliseconds) {
  format.fields[static_cast<size_t>(field)] = FieldRule{*ParseJsonPointer(pointer), unit};
}
void DecodeRenamed(benchmark::State& state) {
  EventFormat format;
  Set(format, Field::kUserId, "/uid");
  Set(format, Field::kItemId, "/nid");
  Set(format, Field::kExposedAt, "/ts", TimeUnit::kSeconds);
  format.only_if = {
      {*ParseJsonPointer("/event"), Condition::Test::kIn, {{ScalarKind::kString, "item_show"}}}};
  Decode(state, DecoderOf(format), RenamedSingle);
}
// Twenty items on two pages, all below "data".
std::string NestedPages(Random& random) {
  std::string pages;
  for (int page = 0; page < 2; ++page) {
    std::string items;
    for (int i = 0; i < 10; ++i) {
      items += std::string(i > 0 ? "," : "") + R"({"item":{"id":")" + Hex(random, "n", 8) + R"("},"pos":)" +
               std::to_string(i) + "}";
    }
    pages += std::string(page > 0 ? "," : "") + R"({"items":[)" + items + "]}";
  }
  return R"({"data":{"uid":")" + Hex(random, "u", 8) + R"(","pages":[)" + pages + R"(]},"ts":)" +
         Time(random) + "}";
}
void DecodeTwentyNested(benchmark::State& state) {
  EventFormat format;
  Set(format, Field::kUserId, "/data/uid");
  Set(format, Field::kItems, "/data/pages/*/items");
  Set(format, Field::kItemId, "/item/id");
  Set(format, Field::kExposedAt, "/ts");
  Decode(state, DecoderOf(format), NestedPages);
}
BENCHMARK(DecodeSingle);
BENCHMARK(DecodeTwentyIds);
BENCHMARK(DecodeTwentyObjects);
BENCHMARK(DecodeNested);
BENCHMARK(DecodeByDocument);
BENCHMARK(DecodeSingleKind);
BENCHMARK(DecodeSingleEverything);
BENCHMARK(DecodeSingleCoverage);
BENCHMARK(DecodeRenamed);
BENCHMARK(DecodeTwentyNested);

}  // namespace
}  // namespace seen::micro
