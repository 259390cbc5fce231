#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "flow/heavy_turn.h"
#include "model/delta_view.h"
#include "model/hashes.h"
#include "query/user_history.h"

namespace seen {

namespace {

TimeMs Second(uint64_t second) { return {static_cast<int64_t>(second) * 1000}; }
TimeMs EndOf(Day day) { return StartOf(day + 1); }

uint32_t EncodedBytes(const Delta& alone) {
  std::string bytes;
  EncodeDelta(alone, bytes);
  return static_cast<uint32_t>(bytes.size());
}

const KindPolicy* Declared(const FilterPolicy& filter, SegmentKind kind) {
  const auto found = std::find_if(filter.kinds.begin(), filter.kinds.end(), [&](const KindPolicy& declared) {
    return declared.number == static_cast<uint8_t>(kind);
  });
  return found == filter.kinds.end() ? nullptr : &*found;
}

std::string NameOf(const FilterPolicy& filter, SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kExposed:
      return "exposed";
    case SegmentKind::kServed:
      return "served";
    case SegmentKind::kRepeated:
      return "repeated";
    case SegmentKind::kByCreation:
      return "by_creation";
    case SegmentKind::kResolving:
      return "resolving";
    case SegmentKind::kSimilar:
      return "similar";
  }
  const KindPolicy* declared = Declared(filter, kind);
  return declared != nullptr ? declared->name : "declared " + std::to_string(static_cast<int>(kind));
}

// Until when an item counts that was shown on `day`. If several exposures are required, only the window
// decides.
TimeMs ExposedUntil(const FilterPolicy& filter, Day day) {
  const int32_t cooldown =
      filter.exposures_min > 1 ? filter.window_days : filter.cooldown_days.value_or(filter.window_days);
  return EndOf(day + std::min(filter.window_days, cooldown));
}

std::optional<TimeMs> CountsUntil(const FilterPolicy& filter, const OtherSegment& segment) {
  switch (segment.kind) {
    case SegmentKind::kServed:
      return Second(segment.EndSecond());
    case SegmentKind::kExposed:
    case SegmentKind::kRepeated:
      return ExposedUntil(filter, segment.day());
    case SegmentKind::kByCreation: {
      const TimeMs shown = ExposedUntil(filter, segment.day());  // the newest of several days
      if (filter.window_by != WindowBy::kItemCreatedAt) return shown;
      const TimeMs created = EndOf(Day{static_cast<int32_t>(segment.bucket)} + filter.window_days);
      return filter.cooldown_days ? std::min(created, shown) : created;
    }
    case SegmentKind::kSimilar:
      if (filter.similar == Similar::kOff) return std::nullopt;
      return EndOf(segment.day() +
                   std::min(filter.window_days, filter.cooldown_days.value_or(filter.window_days)));
    case SegmentKind::kResolving:
      return std::nullopt;
  }
  const KindPolicy* declared = Declared(filter, segment.kind);
  if (declared == nullptr) return std::nullopt;
  return EndOf(segment.day() + declared->window_days);
}

SegmentSummary Describe(const Segment& segment, const FilterPolicy& filter) {
  SegmentSummary summary;
  summary.kind = NameOf(filter, SegmentKind::kExposed);
  summary.from = StartOf(segment.day);
  summary.to = EndOf(segment.day);
  summary.items = static_cast<uint32_t>(segment.fingerprints.size());
  summary.exposures = summary.items;
  summary.first_at = {summary.from.value + int64_t{segment.first_second} * 1000};
  summary.last_at = {summary.from.value + int64_t{segment.last_second} * 1000};
  summary.bytes = EncodedBytes({{}, {}, {}, {segment}, {}});
  summary.counts_until = ExposedUntil(filter, segment.day);
  return summary;
}

SegmentSummary Describe(const OtherSegment& segment, const FilterPolicy& filter) {
  SegmentSummary summary;
  summary.kind = NameOf(filter, segment.kind);
  summary.from = Second(segment.StartSecond());
  summary.to = Second(segment.StartSecond() + segment.width_s);
  summary.exposures = static_cast<uint32_t>(segment.fingerprints.size());
  for (size_t i = 0; i < segment.fingerprints.size(); ++i) {
    if (i == 0 || segment.fingerprints[i] != segment.fingerprints[i - 1]) ++summary.items;
  }
  if (segment.kind == SegmentKind::kByCreation) {
    summary.first_at = summary.from;  // an item isn't shown before it is created
    summary.last_at = {EndOf(segment.day()).value - 1000};
  } else {
    summary.first_at = Second(segment.StartSecond() + segment.first_second);
    summary.last_at = Second(segment.StartSecond() + segment.last_second);
  }
  summary.bytes = EncodedBytes({{}, {}, {}, {}, {segment}});
  summary.counts_until = CountsUntil(filter, segment);
  return summary;
}

// Where a segment is in the list: newest first. Of one time, in the delta's order.
struct ListedSegment {
  TimeMs from;
  int64_t order = 0;                     // kind and width
  const SegmentView* exposed = nullptr;  // nullptr: `other`
  const OtherView* other = nullptr;

  auto Place() const { return std::make_tuple(-from.value, order); }
};

std::vector<ListedSegment> ListSegments(const DeltaView& view) {
  std::vector<ListedSegment> list;
  list.reserve(view.segments.size() + view.others.size());
  for (const SegmentView& segment : view.segments) list.push_back({StartOf(segment.day), 0, &segment});
  for (const OtherView& segment : view.others) {
    const int64_t order = static_cast<int64_t>(segment.kind) << 32 | segment.width_s;
    list.push_back({Second(segment.StartSecond()), order, nullptr, &segment});
  }
  std::sort(list.begin(), list.end(),
            [](const ListedSegment& a, const ListedSegment& b) { return a.Place() < b.Place(); });
  return list;
}

// nullopt: kCorrupt.
std::optional<SegmentSummary> Describe(const ListedSegment& listed, const FilterPolicy& filter) {
  if (listed.exposed != nullptr) {
    Segment segment;
    return DecodeSegment(*listed.exposed, segment) ? std::optional(Describe(segment, filter)) : std::nullopt;
  }
  OtherSegment segment;
  return DecodeSegment(*listed.other, segment) ? std::optional(Describe(segment, filter)) : std::nullopt;
}

// The part of the list that the question asks for.
Result<std::span<const ListedSegment>> PageOf(std::span<const ListedSegment> list, const std::string& asked,
                                              const SegmentsQuestion& question) {
  if (!question.cursor.empty()) {
    const auto cursor = DecodeCursor(question.cursor, asked);
    if (!cursor) return Fail(cursor.error());
    const auto last = std::make_tuple(-cursor->place.at.value, cursor->place.offset);
    const auto next = std::find_if(list.begin(), list.end(),
                                   [&](const ListedSegment& listed) { return listed.Place() > last; });
    list = list.subspan(static_cast<size_t>(next - list.begin()));
  }
  if (question.limit) return list.first(std::min<size_t>(list.size(), *question.limit));
  if (list.size() <= kSegmentsMax) return list;
  return Fail(Code::kInvalidArgument,
              fmt::format("limit: missing, and there are {} segments; an answer has at most {}. Remedy: ask "
                          "with ?limit={}, and again with the \"next\" of each answer as cursor",
                          list.size(), kSegmentsMax, kSegmentsMax));
}

}  // namespace

Result<UserAnswer> DescribeUser(std::string_view encoded, const FilterPolicy& filter, TimeMs now,
                                std::string_view asked_of, const SegmentsQuestion& question) {
  DeltaView view;
  if (!ParseDelta(encoded, view)) return Fail(NotADelta(encoded));
  const std::vector<ListedSegment> list = ListSegments(view);
  const std::string asked = fmt::format("{}/segments", asked_of);
  const auto page = PageOf(list, asked, question);
  if (!page) return Fail(page.error());
  SeenReader& reader = HeavyTurn::OfThread().reader;
  if (Status read = reader.Read(encoded, {}, {}, filter.AnswerAt(now)); !read) return Fail(read.error());
  UserAnswer answer;
  answer.bytes = static_cast<uint32_t>(encoded.size());
  answer.items = static_cast<uint32_t>(reader.seen().size());
  answer.removals = view.removed.count;
  answer.segments.reserve(page->size());
  for (const ListedSegment& listed : *page) {
    auto segment = Describe(listed, filter);
    if (!segment) return Fail(NotADelta(encoded));
    segment->in_window = segment->counts_until && *segment->counts_until > now;
    answer.segments.push_back(std::move(*segment));
  }
  if (question.limit) answer.next.emplace();
  if (!page->empty() && &page->back() != &list.back())
    answer.next = EncodeCursor({{page->back().from, page->back().order}, 0}, asked);
  return answer;
}

namespace {

constexpr size_t kDigits = 16 + 16 + 8 + 8;

std::string Body(const ListCursor& cursor) {
  return fmt::format("{:016x}{:016x}{:08x}", static_cast<uint64_t>(cursor.place.at.value),
                     static_cast<uint64_t>(cursor.place.offset), cursor.item);
}

std::string CheckOf(std::string_view body, std::string_view question) {
  return fmt::format("{:08x}", FingerprintOf(fmt::format("{}/{}", body, question)).value);
}

uint64_t HexAt(std::string_view text, size_t from, size_t digits) {
  uint64_t value = 0;
  std::from_chars(text.data() + from, text.data() + from + digits, value, 16);
  return value;
}

}  // namespace

std::string EncodeCursor(const ListCursor& cursor, std::string_view question) {
  const std::string body = Body(cursor);
  return body + CheckOf(body, question);
}

Result<ListCursor> DecodeCursor(std::string_view text, std::string_view question) {
  if (text.size() == kDigits && text.substr(kDigits - 8) == CheckOf(text.substr(0, kDigits - 8), question)) {
    const ListCursor cursor{
        {{static_cast<int64_t>(HexAt(text, 0, 16))}, static_cast<int64_t>(HexAt(text, 16, 16))},
        static_cast<uint32_t>(HexAt(text, 32, 8))};
    // A client that makes a cursor up may guess the check.
    if (cursor.place.at.value >= 0 && cursor.place.at.value < int64_t{1} << 48 && cursor.place.offset >= 0 &&
        cursor.place.offset < INT64_MAX && Body(cursor) == text.substr(0, kDigits - 8)) {
      return cursor;
    }
  }
  return Fail(
      Code::kInvalidArgument,
      "cursor: not a \"next\" of an answer with this filter, user and item. Remedy: begin without a cursor");
}

}  // namespace seen
