#include "decode/own_event.h"

#include "decode/json_text.h"

namespace seen {

std::string EncodeOwnEvent(const OwnEvent& event) {
  std::string json(kOwnEventStart);
  json += R"("kind":)";
  AppendJsonString(event.kind, json);
  json += R"(,"user_id":)";
  AppendJsonString(event.user_id, json);
  if (!event.items.empty()) {
    json += R"(,"items":)";
    char separator = '[';
    for (const std::string_view item : event.items) {
      json += separator;
      AppendJsonString(item, json);
      separator = ',';
    }
    json += ']';
  }
  return json + R"(,"exposed_at":)" + std::to_string(event.at.value) + "}";
}

}  // namespace seen
