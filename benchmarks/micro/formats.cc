// The cost of decoding the same events as JSON, as Avro and as Protobuf, by the short way, in warm caches.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "binary/avro_reader.h"
#include "binary/protobuf_reader.h"
#include "decode/event_decoder.h"

namespace seen::micro {
namespace {

constexpr size_t kEvents = 1024;
using Random = std::mt19937_64;

/// As seenctl generate writes it, with one item or with `items`.
struct Shown {
  std::string user;
  std::vector<std::string> items;
  int64_t at;
  int position;
  std::string request;
};

std::string Hex(Random& random, std::string_view prefix, int digits) {
  std::string text(prefix);
  for (int i = 0; i < digits; ++i) text += "0123456789abcdef"[random() % 16];
  return text;
}

std::vector<Shown> Events(size_t items) {
  Random random(1);
  std::vector<Shown> events(kEvents);
  for (Shown& event : events) {
    event.user = Hex(random, "u", 8);
    for (size_t i = 0; i < items; ++i) event.items.push_back(Hex(random, "n", 8));
    event.at = static_cast<int64_t>(1763700000000 + random() % 1'000'000'000);
    event.position = static_cast<int>(random() % 50);
    event.request = Hex(random, "r", 16);
  }
  return events;
}

std::string Varint(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  return bytes + static_cast<char>(number);
}
std::string Zigzag(int64_t number) {
  return Varint(static_cast<uint64_t>(number) << 1);
}  // of no negative one
std::string Sized(std::string_view text) { return Varint(text.size()) + std::string(text); }
std::string AvroText(std::string_view text) {
  return Zigzag(static_cast<int64_t>(text.size())) + std::string(text);
}

std::string AsJson(const Shown& event) {
  std::string items;
  for (const std::string& item : event.items) items += (items.empty() ? "\"" : ",\"") + item + "\"";
  return R"({"user_id":")" + event.user + R"(",)" +
         (event.items.size() == 1 ? R"("item_id":)" + items : R"("items":[)" + items + "]") +
         R"(,"exposed_at":)" + std::to_string(event.at) + R"(,"scene":"video_tab","position":)" +
         std::to_string(event.position) + R"(,"request_id":")" + event.request + "\"}";
}

std::string AsAvro(const Shown& event) {
  std::string items = AvroText(event.items.front());
  if (event.items.size() > 1) {
    items = Zigzag(static_cast<int64_t>(event.items.size()));
    for (const std::string& item : event.items) items += AvroText(item);
    items += '\0';
  }
  return AvroText(event.user) + items + Zigzag(event.at) + Zigzag(1) + AvroText("video_tab") + Zigzag(1) +
         Zigzag(event.position) + Zigzag(1) + AvroText(event.request);
}

std::string AsProtobuf(const Shown& event) {
  std::string items;
  for (const std::string& item : event.items) items += "\x12" + Sized(item);
  return "\x0a" + Sized(event.user) + items + "\x18" + Varint(static_cast<uint64_t>(event.at)) + "\x22" +
         Sized("video_tab") + "\x28" + Varint(static_cast<uint64_t>(event.position)) + "\x32" +
         Sized(event.request);
}

/// A plan asks less of events that a schema describes.
class SomeFormat final : public BinaryFormat {
  std::unique_ptr<BinaryReader> NewReader(std::shared_ptr<const EventPlan>, MissingSchema) override {
    return nullptr;
  }
  std::optional<FormatError> Check(const std::shared_ptr<const EventPlan>&) const override { return {}; }
  std::vector<std::string> Troubles() const override { return {}; }
};

/// The daemon's default: it reads the kind if the event has one.
std::shared_ptr<const EventPlan> Plan(bool is_binary = true) {
  EventFormat format;
  format.wanted.kind = true;
  if (is_binary) format.binary = std::make_shared<SomeFormat>();
  return *EventPlan::Make(format);
}

std::unique_ptr<BinaryReader> AvroFor(bool single) {
  const std::string text =
      R"({"type":"record","name":"Exposure","fields":[{"name":"user_id","type":"string"},)" +
      std::string(single ? R"({"name":"item_id","type":"string"},)"
                         : R"({"name":"items","type":{"type":"array","items":"string"}},)") +
      R"({"name":"exposed_at","type":"long"},{"name":"scene","type":["null","string"]},
                               {"name":"position","type":["null","int"]},
                               {"name":"request_id","type":["null","string"]}]})";
  return std::move(*AvroReader::Make(*AvroSchema::Parse(text), nullptr, Plan()));
}

std::unique_ptr<BinaryReader> ProtobufFor(bool single) {
  const std::string text = R"(syntax = "proto3"; message Exposure { string user_id = 1; )" +
                           std::string(single ? "string item_id = 2;" : "repeated string items = 2;") +
                           "int64 exposed_at = 3; optional string scene = 4; optional int32 position = 5; "
                           "optional string request_id = 6; }";
  return std::move(*ProtobufReader::Make(*ProtobufSchema::FromText(text), Plan()));
}

void Json(benchmark::State& state) {
  std::vector<std::string> events;
  for (const Shown& event : Events(static_cast<size_t>(state.range(0)))) events.push_back(AsJson(event));
  EventDecoder decoder(size_t{1} << 20, Plan(false));
  size_t next = 0;
  for (auto _ : state) {
    const auto event = decoder.Decode(events[next++ % kEvents]);
    if (!event) std::abort();
    benchmark::DoNotOptimize(event->items.data());
  }
}

void Binary(benchmark::State& state, const std::unique_ptr<BinaryReader>& reader,
            std::string (*encode)(const Shown&)) {
  std::vector<std::string> events;
  for (const Shown& event : Events(static_cast<size_t>(state.range(0)))) events.push_back(encode(event));
  EventBuffers buffers;
  size_t next = 0;
  for (auto _ : state) {
    Event event;
    if (!reader->Read(events[next++ % kEvents], buffers, event)) std::abort();
    benchmark::DoNotOptimize(event.items.data());
  }
}
void Avro(benchmark::State& state) { Binary(state, AvroFor(state.range(0) == 1), AsAvro); }
void Protobuf(benchmark::State& state) { Binary(state, ProtobufFor(state.range(0) == 1), AsProtobuf); }

BENCHMARK(Json)->Arg(1)->Arg(20);
BENCHMARK(Avro)->Arg(1)->Arg(20);
BENCHMARK(Protobuf)->Arg(1)->Arg(20);

}  // namespace
}  // namespace seen::micro
