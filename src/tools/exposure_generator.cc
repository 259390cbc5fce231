#include "tools/exposure_generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/exposure_writer.h"

namespace seen {
namespace {

constexpr uint64_t kSessionsMax = uint64_t{1} << 24;
constexpr uint32_t kEventBytesMax = 1 << 20;
constexpr std::array<std::string_view, 4> kScenes = {"home_feed", "video_tab", "search_more", "related"};
constexpr uint64_t kRanksMax = uint64_t{1} << 32;

template <size_t N>
void WriteHex(char letter, uint64_t value, std::array<char, N>& out) {
  out[0] = letter;
  for (size_t i = N - 1; i > 0; --i, value >>= 4) out[i] = "0123456789abcdef"[value & 15];
}

// Ranks become ids by a bijection of 32 bits (an odd multiplier), so that an id doesn't tell how popular it
// is.
uint32_t Scramble(uint64_t rank, uint32_t odd) { return static_cast<uint32_t>(rank) * odd; }

template <size_t N>
std::string_view View(const std::array<char, N>& id) {
  return {id.data(), id.size()};
}

}  // namespace

Status ExposureGenerator::Validate(const GeneratorOptions& options) {
  const auto range = [](std::string_view name, auto value, auto low, auto high) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {} is outside {} to {}", name, value, low, high));
  };
  if (options.users < 1 || options.users > kRanksMax) return range("--users", options.users, 1, kRanksMax);
  if (options.items < 1 || options.items > kRanksMax) return range("--items", options.items, 1, kRanksMax);
  if (options.items_per_event < 1 || options.items_per_event > kSessionItemsMax)
    return range("--batch", options.items_per_event, 1, kSessionItemsMax);
  if (!(options.user_skew > 0 && options.user_skew <= 3))
    return range("--user-skew", options.user_skew, "above 0", 3);
  if (!(options.item_skew > 0 && options.item_skew <= 3))
    return range("--item-skew", options.item_skew, "above 0", 3);
  if (options.sessions < 1 || options.sessions > kSessionsMax)
    return range("--sessions", options.sessions, 1, kSessionsMax);
  if (options.event_bytes > kEventBytesMax)
    return range("--event-bytes", options.event_bytes, 0, kEventBytesMax);
  return {};
}

ExposureGenerator::ExposureGenerator(const GeneratorOptions& options)
    : options_(options),
      random_(options.seed),
      padding_(options.seed),
      user_rank_(options.users, options.user_skew),
      item_rank_(options.items, options.item_skew),
      sessions_(std::min(options.sessions, options.users)) {}

void ExposureGenerator::Begin(Session& session) {
  session.user = Scramble(user_rank_(random_), 0x9e3779b1u);
  session.request = random_.Next();
  session.scene = static_cast<uint8_t>(random_.Below(kScenes.size()));
  session.length =
      static_cast<uint8_t>(kSessionItemsMin + random_.Below(kSessionItemsMax - kSessionItemsMin + 1));
  session.shown = 0;
  for (uint32_t i = 0; i < session.length; ++i) {
    uint32_t& item = session.items[i];
    for (int attempt = 0; attempt < 8; ++attempt) {  // a page doesn't show an item twice
      item = Scramble(item_rank_(random_), 0x85ebca6bu);
      if (std::find(session.items.begin(), session.items.begin() + i, item) == session.items.begin() + i)
        break;
    }
  }
}

ExposureGenerator::Generated ExposureGenerator::Next(TimeMs exposed_at) {
  Session& session = sessions_[random_.Below(static_cast<uint32_t>(sessions_.size()))];
  if (session.shown == session.length) Begin(session);
  const uint32_t first = session.shown;
  const uint32_t count = std::min(options_.items_per_event, session.length - first);
  session.shown = static_cast<uint8_t>(session.shown + count);

  std::array<char, 17> request;  // 'r' and sixteen hex digits
  std::array<Id, kSessionItemsMax> items;
  WriteHex('u', session.user, user_id_);
  WriteHex('r', session.request, request);
  for (uint32_t i = 0; i < count; ++i) WriteHex('n', session.items[first + i], items[i]);
  const ExposureFields fields{.user_id = View(user_id_),
                              .exposed_at = exposed_at,
                              .scene = kScenes[session.scene],
                              .position = first + 1,
                              .request_id = View(request)};
  if (options_.items_per_event == 1) {
    WriteExposure(fields, View(items[0]), payload_);
  } else {
    std::array<std::string_view, kSessionItemsMax> ids;
    for (uint32_t i = 0; i < count; ++i) ids[i] = View(items[i]);
    WriteBatchExposure(fields, std::span(ids.data(), count), payload_);
  }
  if (options_.event_bytes > 0) Pad();
  return {.user_id = fields.user_id, .payload = payload_, .items = count};
}

// Random digits, so that compression doesn't take them away again.
void ExposureGenerator::Pad() {
  constexpr std::string_view kField = R"(,"context":")";
  constexpr size_t kAround = kField.size() + 1;  // and the closing quote
  if (payload_.size() + kAround >= options_.event_bytes) return;
  size_t digits = options_.event_bytes - payload_.size() - kAround;
  payload_.pop_back();
  payload_.append(kField);
  while (digits > 0) {
    std::array<char, 17> some;
    WriteHex('x', padding_.Next(), some);
    const size_t count = std::min(digits, some.size() - 1);
    payload_.append(some.data() + 1, count);
    digits -= count;
  }
  payload_.append("\"}");
}

}  // namespace seen
