#include "tools/load/exposure_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "base/probed_cells.h"

namespace seen {
namespace {

// Events as JSON, formatted by hand: a generator for benchmarks must be faster than its consumer.

struct ExposureFields {
  uint32_t user = 0;
  uint64_t request = 0;
  TimeMs exposed_at;
  std::string_view scene;  // at most 32 bytes; isn't escaped: only letters, digits, '-' and '_'
  uint32_t position = 0;   // of the first item
};

constexpr size_t kHeadBytesMax = 192;  // an event without the items of a batch
constexpr size_t kItemBytesMax = 64;
constexpr std::string_view kUser = R"({"user_id":")";
constexpr size_t kIdBytes = 9;  // a letter and eight hex digits

constexpr auto kHexPairs = [] {
  std::array<char, 512> pairs{};
  for (size_t i = 0; i < 256; ++i) {
    pairs[2 * i] = "0123456789abcdef"[i >> 4];
    pairs[2 * i + 1] = "0123456789abcdef"[i & 15];
  }
  return pairs;
}();

template <size_t Bytes, typename Number>
char* PutHex(Number value, char* to) {
  for (size_t i = 0; i < Bytes; ++i) {
    std::memcpy(to + 2 * i, &kHexPairs[2 * (value >> 8 * (Bytes - 1 - i) & 0xff)], 2);
  }
  return to + 2 * Bytes;
}

char* PutId(char letter, uint32_t value, char* to) {
  *to = letter;
  return PutHex<4>(value, to + 1);
}

// Inline: then the compiler knows the length of a literal at the copy.
[[gnu::always_inline]] inline char* Put(std::string_view text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* PutTime(const ExposureFields& fields, char* to) {
  to = Put(R"(,"exposed_at":)", to);
  to = std::to_chars(to, to + 24, fields.exposed_at.value).ptr;
  to = Put(R"(,"scene":")", to);
  return Put(fields.scene, to);
}

char* PutRequest(uint64_t request, char* to) {
  to = Put(R"("request_id":"r)", to);
  return PutHex<8>(request, to);
}

/// Replaces `out` by {"user_id":"u…","item_id":"n…",…}. An id is a letter and the number in hex digits.
void WriteExposure(const ExposureFields& fields, uint32_t item, std::string& out) {
  std::array<char, kHeadBytesMax> event;
  char* to = Put(kUser, event.data());
  to = PutId('u', fields.user, to);
  to = Put(R"(","item_id":")", to);
  to = PutId('n', item, to);
  to = Put("\"", to);
  to = PutTime(fields, to);
  to = Put(R"(","position":)", to);
  to = std::to_chars(to, to + 12, fields.position).ptr;
  to = Put(",", to);
  to = PutRequest(fields.request, to);
  to = Put("\"}", to);
  out.assign(event.data(), to);
}

/// Replaces `out` by the batch form, {"user_id":"u…","items":[{"item_id":"n…","position":…},…]}.
void WriteBatchExposure(const ExposureFields& fields, std::span<const uint32_t> items, std::string& out) {
  out.resize(kHeadBytesMax + kItemBytesMax * items.size());
  char* to = Put(kUser, out.data());
  to = PutId('u', fields.user, to);
  to = Put("\"", to);
  to = PutTime(fields, to);
  to = Put("\",", to);
  to = PutRequest(fields.request, to);
  to = Put(R"(","items":[)", to);
  uint32_t position = fields.position;
  for (const uint32_t item : items) {
    if (position != fields.position) to = Put(",", to);
    to = Put(R"({"item_id":")", to);
    to = PutId('n', item, to);
    to = Put(R"(","position":)", to);
    to = std::to_chars(to, to + 12, position++).ptr;
    to = Put("}", to);
  }
  to = Put("]}", to);
  out.resize(static_cast<size_t>(to - out.data()));
}

/// The user id within an event that WriteExposure or WriteBatchExposure wrote.
std::string_view UserIdOf(std::string_view event) { return event.substr(kUser.size(), kIdBytes); }

/// Sixteen hex digits.
std::array<char, 16> HexOf(uint64_t value) {
  std::array<char, 16> digits;
  PutHex<8>(value, digits.data());
  return digits;
}

constexpr uint64_t kSessionsMax = uint64_t{1} << 24;
constexpr uint32_t kEventBytesMax = 1 << 20;
constexpr std::array<std::string_view, 4> kScenes = {"home_feed", "video_tab", "search_more", "related"};
constexpr uint64_t kRanksMax = uint64_t{1} << 32;

// A bijection of 32 bits (multiplication by an odd number) turns ranks into ids. So an id doesn't show how
// popular its item or user is.
uint32_t Scramble(uint64_t rank, uint32_t odd) { return static_cast<uint32_t>(rank) * odd; }

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
      session_count_(static_cast<uint32_t>(std::min(options.sessions, options.users))),
      sessions_(new Session[session_count_]),
      under_way_(session_count_) {}

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

bool ExposureGenerator::IsAhead(const Session& session) const {
  for (uint64_t event = written_; event < decided_; ++event) {
    if (ahead_[event % kAheadMax].session == &session) return true;
  }
  return false;
}

// Chooses the next events' sessions early. So the sessions' cache lines are there when the events are
// written. The order of the random numbers doesn't depend on how early this happens.
void ExposureGenerator::DecideAhead() {
  const uint64_t before = decided_;
  while (decided_ - written_ < kAheadMax) {
    if (!drawn_) session_ = random_.Below(session_count_);
    Session& session = sessions_[session_];
    drawn_ = IsAhead(session);
    if (drawn_) break;  // only writing its event shows whether this session goes on
    Decided& next = ahead_[decided_++ % kAheadMax];
    next.session = &session;
    next.begins = !under_way_[session_];
    if (next.begins) Begin(next.begun);
    under_way_[session_] = true;
  }
  // All prefetches in one loop: a processor looks up several pages at once, but does little else meanwhile.
  for (uint64_t event = before; event < decided_; ++event) {
    const Session* const session = ahead_[event % kAheadMax].session;
    PrefetchLineToWrite(session);
    PrefetchLineToWrite(session->items.end() - 1);
  }
}

ExposureGenerator::Generated ExposureGenerator::Next(TimeMs exposed_at, std::string& payload) {
  if (decided_ - written_ <= kAheadMax / 2) DecideAhead();
  const Decided& decided = ahead_[written_++ % kAheadMax];
  Session& session = *decided.session;
  if (decided.begins) session = decided.begun;
  const uint32_t first = session.shown;
  const std::span items(session.items.begin() + first,
                        std::min<uint32_t>(options_.items_per_event, session.length - first));
  session.shown = static_cast<uint8_t>(first + items.size());
  if (session.shown == session.length) under_way_[static_cast<size_t>(&session - sessions_.get())] = false;
  const ExposureFields fields{.user = session.user,
                              .request = session.request,
                              .exposed_at = exposed_at,
                              .scene = kScenes[session.scene],
                              .position = first + 1};
  if (options_.items_per_event == 1) {
    WriteExposure(fields, items.front(), payload);
  } else {
    WriteBatchExposure(fields, items, payload);
  }
  if (options_.event_bytes > 0) Pad(payload);
  return {.user_id = UserIdOf(payload), .payload = payload, .items = static_cast<uint32_t>(items.size())};
}

// Random digits: compression must not remove the padding.
void ExposureGenerator::Pad(std::string& payload) {
  constexpr std::string_view kField = R"(,"context":")";
  constexpr size_t kAround = kField.size() + 1;  // with the closing quote
  if (payload.size() + kAround >= options_.event_bytes) return;
  size_t digits = options_.event_bytes - payload.size() - kAround;
  payload.pop_back();
  payload.append(kField);
  while (digits > 0) {
    const auto some = HexOf(padding_.Next());
    const size_t count = std::min(digits, some.size());
    payload.append(some.data(), count);
    digits -= count;
  }
  payload.append("\"}");
}

}  // namespace seen
