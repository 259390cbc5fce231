// Reads payloads of Avro for avro_oracle.py. Each line of the standard input is one request, and each line of
// the standard output its answer:
//   {"writer": "<schema>", "reader": "<schema>" or null, "looks_at": ["/f0"], "payloads": ["<hex>"]}
//   {"error": "..."}, or {"events": [{"json": "..."} or {"rejected": "..."}, "event": "...", "short":
//   "..."}]}

#include <iostream>

#include "binary/avro_reader.h"
#include "decode/event_decoder.h"
#include "unit/binary/avro_encoder.h"
#include "unit/decode/format_of.h"

namespace seen {
namespace {

using Json = nlohmann::json;

std::shared_ptr<const EventPlan> PlanOf(const Json& looks_at) {
  EventFormat format;
  format.wanted = {true, true, true, true, true};
  for (const auto& pointer : looks_at)
    format.filters.push_back({{}, {AnyOf(pointer.get<std::string>(), {"a", "x", "S0"})}});
  return *EventPlan::Make(format);
}

Json Answer(const Json& request) {
  const auto writer = AvroSchema::Parse(request["writer"].get<std::string>());
  if (!writer) return {{"error", "writer: " + writer.error()}};
  std::shared_ptr<const AvroSchema> reader_schema;
  if (!request["reader"].is_null()) {
    const auto parsed = AvroSchema::Parse(request["reader"].get<std::string>());
    if (!parsed) return {{"error", "reader: " + parsed.error()}};
    reader_schema = *parsed;
  }
  const auto plan = PlanOf(request["looks_at"]);
  const auto reader = AvroReader::Make(*writer, reader_schema, plan);
  if (!reader) return {{"error", reader.error().path + ": " + reader.error().message}};
  EventDecoder decoder(SIZE_MAX / 2, plan);
  EventBuffers buffers;
  Json events = Json::array();
  for (const auto& hex : request["payloads"]) {
    const std::string payload = FromHex(hex.get<std::string>());
    Json answer;
    std::string text;
    if (const auto read = (*reader)->AppendJson(payload, text)) {
      answer["json"] = text;
      const auto event = decoder.Decode(text);
      answer["event"] = event ? EventText(*event) : event.error().message;
    } else {
      answer["rejected"] = read.error().message;
    }
    Event event;
    if ((*reader)->Read(payload, buffers, event)) answer["short"] = EventText(event);
    events.push_back(std::move(answer));
  }
  return {{"events", events}};
}

}  // namespace
}  // namespace seen

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = seen::Answer(nlohmann::json::parse(line));
    // Text that isn't UTF-8 becomes "\ufffd".
    std::cout << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
}
