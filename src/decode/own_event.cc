#include "decode/own_event.h"

namespace seen {
namespace {

void AppendQuoted(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (byte < 0x20) {
      out.append("\\u00").append({kHex[byte >> 4], kHex[byte & 15]});
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string EncodeOwnEvent(const OwnEvent& event) {
  std::string json(kOwnEventStart);
  json += R"("kind":)";
  AppendQuoted(event.kind, json);
  json += R"(,"user_id":)";
  AppendQuoted(event.user_id, json);
  if (!event.items.empty()) {
    json += R"(,"items":)";
    char separator = '[';
    for (const std::string_view item : event.items) {
      json += separator;
      AppendQuoted(item, json);
      separator = ',';
    }
    json += ']';
  }
  return json + R"(,"exposed_at":)" + std::to_string(event.at.value) + "}";
}

}  // namespace seen
