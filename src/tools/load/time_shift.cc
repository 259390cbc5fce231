#include "tools/load/time_shift.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "decode/event_decoder.h"
#include "tools/history/line_reader.h"

namespace seen {

Result<TimeMs> LastExposure(const std::string& path) {
  auto lines = LineReader::Open(path);
  if (!lines) return Fail(lines.error());
  EventDecoder decoder(size_t{64} << 20);
  std::optional<TimeMs> last;
  std::string_view line;
  while (true) {
    const auto more = lines->Next(line);
    if (!more) return Fail(more.error());
    if (!*more) break;
    if (const auto event = decoder.Decode(line))
      last = std::max(last.value_or(event->exposed_at), event->exposed_at);
  }
  if (!last) return Fail(Code::kNotFound, fmt::format("{}: no line is an exposure event", path));
  return *last;
}

Result<std::string> ShiftExposure(std::string_view line, int64_t shift_ms) {
  auto json = nlohmann::ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Fail(Code::kMalformed, "not a JSON object");
  const auto exposed_at = json.find("exposed_at");
  if (exposed_at == json.end() || !exposed_at->is_number_integer()) {
    return Fail(Code::kMalformed, "exposed_at: missing, or not an integer");
  }
  *exposed_at = exposed_at->get<int64_t>() + shift_ms;
  return json.dump();
}

}  // namespace seen
