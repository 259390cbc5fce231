// Reads Protobuf events for tests in other languages. Standard input: frames, each with its length in 4
// bytes, little-endian: a FileDescriptorSet, the message's name, then payloads. Standard output has two lines
// for each payload: its JSON, and the time, the user and the items that the short way reads, as a JSON array;
// null: it needs the long way.

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>

#include "binary/protobuf_reader.h"
#include "binary/protobuf_schema.h"
#include "decode/event_plan.h"
#include "decode/json_text.h"

namespace seen {
namespace {

std::optional<std::string> TakeFrame() {
  uint32_t size = 0;
  if (!std::cin.read(reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
  std::string frame(size, '\0');
  if (!std::cin.read(frame.data(), size)) return std::nullopt;
  return frame;
}

int Run() {
  const auto files = TakeFrame(), message = TakeFrame();
  if (!files || !message) return 2;
  const auto schema = ProtobufSchema::FromFileSet(*files, *message);
  if (!schema) {
    std::cerr << schema.error() << "\n";
    return 1;
  }
  const auto reader = ProtobufReader::Make(*schema, EventPlan::Default());
  if (!reader) {
    std::cerr << reader.error().path << ": " << reader.error().message << "\n";
    return 1;
  }
  EventBuffers buffers;
  while (const auto payload = TakeFrame()) {
    std::string json;
    const auto read = (*reader)->AppendJson(*payload, json);
    std::cout << (read ? json : read.error().message) << "\n";
    Event event;
    if ((*reader)->Read(*payload, buffers, event)) {
      std::string shown = "[" + std::to_string(event.exposed_at.value) + ",";
      AppendJsonString(event.user_id, shown);
      for (const ExposedItem& item : event.items) AppendJsonString(item.item_id, shown += ",");
      std::cout << shown << "]\n";
    } else {
      std::cout << "null\n";
    }
  }
  return 0;
}

}  // namespace
}  // namespace seen

int main() { return seen::Run(); }
