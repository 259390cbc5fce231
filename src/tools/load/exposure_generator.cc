#include "tools/load/exposure_generator.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/probed_cells.h"

namespace seen {
namespace {

struct ExposureFields {
  uint32_t user = 0;
  uint64_t request = 0;
  TimeMs exposed_at;
  std::string_view scene;  // at most 32 bytes; isn't escaped: only letters, digits, '-' and '_'
  uint32_t position = 0;   // of the first item
};

constexpr size_t kHeadBytesMax = 192;  // an event without the items of a batch
constexpr size_t kBatchItemBytesMax = 64;

/// Replaces `out` by {"user_id":"u…","item_id":"n…",…}. An id is a letter and the number in hex digits.
void WriteExposure(const ExposureFields& fields, uint32_t item, std::string& out) {
  std::array<char, kHeadBytesMax> event;
  char* const end = fmt::format_to(
      event.data(),
      FMT_COMPILE(R"({{"user_id":"u{:08x}","item_id":"n{:08x}","exposed_at":{},"scene":"{}",)"
                  R"("position":{},"request_id":"r{:016x}"}})"),
      fields.user, item, fields.exposed_at.value, fields.scene, fields.position, fields.request);
  out.assign(event.data(), end);
}

/// Replaces `out` by the batch form, {"user_id":"u…","items":[{"item_id":"n…","position":…},…]}.
void WriteBatchExposure(const ExposureFields& fields, std::span<const uint32_t> items, std::string& out) {
  out.resize(kHeadBytesMax + kBatchItemBytesMax * items.size());
  char* to = fmt::format_to(
      out.data(),
      FMT_COMPILE(R"({{"user_id":"u{:08x}","exposed_at":{},"scene":"{}","request_id":"r{:016x}","items":[)"),
      fields.user, fields.exposed_at.value, fields.scene, fields.request);
  for (size_t i = 0; i < items.size(); ++i) {
    to = fmt::format_to(to, FMT_COMPILE(R"({}{{"item_id":"n{:08x}","position":{}}})"), i == 0 ? "" : ",",
                        items[i], fields.position + i);
  }
  to = fmt::format_to(to, FMT_COMPILE("]}}"));
  out.resize(static_cast<size_t>(to - out.data()));
}

/// The user id within an event that WriteExposure or WriteBatchExposure wrote.
std::string_view UserIdOf(std::string_view event) { return event.substr(12, 9); }

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
  std::array<char, 16> some;
  while (digits > 0) {
    fmt::format_to(some.data(), FMT_COMPILE("{:016x}"), padding_.Next());
    const size_t count = std::min(digits, some.size());
    payload.append(some.data(), count);
    digits -= count;
  }
  payload.append("\"}");
}

}  // namespace seen
