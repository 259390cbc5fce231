#include "tools/load/exposure_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "decode/event_decoder.h"
#include "tools/history/line_reader.h"

namespace seen {
namespace {

constexpr size_t kEventBytesMax = size_t{64} << 20;

struct Line {
  std::string key;
  std::string payload;
  size_t exposures = 0;
};

Result<Line> KeyedLine(std::string_view line, const std::string& key_member) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  const auto key = json.find(key_member);
  if (!json.is_object() || key == json.end() || !key->is_string())
    return Fail(Code::kMalformed, fmt::format("{}: missing, or not a string", key_member));
  return Line{key->get<std::string>(), std::string(line), 0};
}

Result<Line> ExposureLine(std::string_view line, std::optional<int64_t> shift_ms, EventDecoder& decoder) {
  std::string payload(line);
  if (shift_ms) {
    auto shifted = ShiftExposure(line, *shift_ms);
    if (!shifted) return Fail(shifted.error());
    payload = std::move(*shifted);
  }
  const auto event = decoder.Decode(payload);
  if (!event) return Fail(Code::kMalformed, event.error().message);
  std::string key(event->user_id);
  const size_t exposures = event->items.size();
  return Line{std::move(key), std::move(payload), exposures};
}

}  // namespace

Result<SentCounts> SendFile(const ExposureFile& file, RateLimiter limiter, EventSink& sink,
                            Progress& progress) {
  std::optional<int64_t> shift_ms;
  if (file.shift) {
    const auto last = LastExposure(file.path);
    if (!last) return Fail(last.error());
    shift_ms = file.until.value - last->value;
  }
  auto lines = LineReader::Open(file.path);
  if (!lines) return Fail(lines.error());
  EventDecoder decoder(kEventBytesMax);
  const Instant start = SystemClock().Now();
  SentCounts sent;
  std::string_view line;
  while ((file.lines_max == 0 || sent.events < file.lines_max) && !Interrupted() &&
         !TimeIsUp(file.seconds_max, start)) {
    const auto more = lines->Next(line);
    if (!more) return Fail(more.error());
    if (!*more) break;
    const auto read =
        file.key_member.empty() ? ExposureLine(line, shift_ms, decoder) : KeyedLine(line, file.key_member);
    if (!read) {
      if (sent.rejected++ == 0) {
        fmt::print(stderr, "seenctl: {}: line {} is left out: {}\n", file.path, lines->line_number(),
                   read.error().message);
      }
      continue;
    }
    limiter.Wait();
    const KeyedRecord record{read->key, read->payload};
    if (auto status = sink.Send({&record, 1}); !status) return Fail(status.error());
    ++sent.events;
    sent.exposures += read->exposures;
    sent.bytes += read->payload.size();
    progress.Update(sink.delivered());
  }
  return sent;
}

Result<TimeMs> LastExposure(const std::string& path) {
  auto lines = LineReader::Open(path);
  if (!lines) return Fail(lines.error());
  EventDecoder decoder(kEventBytesMax);
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
