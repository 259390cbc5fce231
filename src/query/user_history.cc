#include "query/user_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "filter/snapshot.h"
#include "flow/partition_flow.h"
#include "model/delta_view.h"

namespace seen {
namespace {

constexpr size_t kRowsReadMax = 100'000;  // for one answer
constexpr size_t kWhyExposuresMax = 100;
constexpr uint32_t kWholeRow = UINT32_MAX;

TimeMs SecondOf(Day day, uint32_t second) { return {StartOf(day).value + int64_t{second} * 1000}; }

bool Holds(const std::vector<Fingerprint>& sorted, Fingerprint fingerprint) {
  return std::binary_search(sorted.begin(), sorted.end(), fingerprint);
}

TimeMs TimeOfSecond(uint64_t second) { return {static_cast<int64_t>(second) * 1000}; }

// nullopt: the segment says nothing of what is seen.
std::optional<WhySegment> WhyOther(const OtherSegment& segment, Fingerprint fingerprint,
                                   const FilterPolicy& policy, const AnswerLimits& limits) {
  WhySegment why{"exposed",
                 TimeOfSecond(segment.StartSecond() + segment.first_second),
                 TimeOfSecond(segment.StartSecond() + segment.last_second),
                 segment.day() >= limits.horizon,
                 {}};
  const auto [from, to] =
      std::equal_range(segment.fingerprints.begin(), segment.fingerprints.end(), fingerprint);
  const auto first = static_cast<size_t>(from - segment.fingerprints.begin());
  const auto count = static_cast<size_t>(to - from);
  switch (segment.kind) {
    case SegmentKind::kServed:
      why.kind = "served";
      why.counts = segment.EndSecond() > limits.now_s;
      why.until = TimeOfSecond(segment.EndSecond());
      break;
    case SegmentKind::kRepeated:
      why.first_at = TimeOfSecond(segment.StartSecond() + segment.times[first]);
      why.last_at = TimeOfSecond(segment.StartSecond() + segment.times[first + count - 1]);
      break;
    case SegmentKind::kByCreation: {
      const Day newest{static_cast<int32_t>(segment.times[first])};
      why.first_at = StartOf(newest);
      why.last_at = {StartOf(newest + 1).value - 1};
      why.counts =
          (limits.by_creation ? Day{static_cast<int32_t>(segment.bucket)} : newest) >= limits.horizon;
      break;
    }
    case SegmentKind::kExposed:
    case SegmentKind::kResolving:
    case SegmentKind::kSimilar:
      return std::nullopt;
    default: {  // a declared kind
      const auto number = static_cast<uint8_t>(segment.kind);
      const auto kind = std::find_if(policy.kinds.begin(), policy.kinds.end(),
                                     [&](const KindPolicy& declared) { return declared.number == number; });
      why.kind = kind == policy.kinds.end() ? fmt::format("kind {}", number) : kind->name;
      why.counts = segment.day() >= limits.declared[DeclaredPlace(segment.kind)];
    }
  }
  return why;
}

// Newest first. nullopt: kCorrupt.
std::optional<std::vector<WhySegment>> SegmentsWith(const DeltaView& view, Fingerprint fingerprint,
                                                    const FilterPolicy& policy, const AnswerLimits& limits,
                                                    bool seen) {
  std::vector<WhySegment> found;
  for (const SegmentView& coded : view.segments) {
    Segment segment;
    if (!DecodeSegment(coded, segment)) return std::nullopt;
    if (!Holds(segment.fingerprints, fingerprint)) continue;
    found.push_back({"exposed",
                     SecondOf(segment.day, segment.first_second),
                     SecondOf(segment.day, segment.last_second),
                     segment.day >= limits.horizon,
                     {}});
  }
  for (const OtherView& coded : view.others) {
    OtherSegment segment;
    if (!DecodeSegment(coded, segment)) return std::nullopt;
    if (!Holds(segment.fingerprints, fingerprint)) continue;
    if (auto why = WhyOther(segment, fingerprint, policy, limits)) found.push_back(std::move(*why));
  }
  for (WhySegment& segment : found) segment.counts &= seen;
  std::stable_sort(found.begin(), found.end(),
                   [](const WhySegment& x, const WhySegment& y) { return x.last_at > y.last_at; });
  return found;
}

std::optional<Day> RemovedOn(const DeltaView& view, Fingerprint fingerprint) {
  Delta delta;
  if (!DecodeView(view.Removals(), delta)) return std::nullopt;
  for (const Removal& removal : delta.removals) {
    if (removal.fingerprint == fingerprint) return removal.day;
  }
  return std::nullopt;
}

std::string KindName(const PartitionFlow& flow, uint8_t kind) {
  constexpr std::string_view kBuiltIn[] = {"exposed", "served", "removed", "erased"};
  if (kind < std::size(kBuiltIn)) return std::string(kBuiltIn[kind]);
  for (const FilterPolicy& filter : flow.state.options().filters) {
    for (const KindPolicy& declared : filter.kinds) {
      if (declared.number == kind) return declared.name;
    }
  }
  return fmt::format("kind {}", kind);  // the kind has left the configuration
}

ListedExposure Listed(const PartitionFlow& flow, const JournalPlace& place, const JournalRow& row,
                      const JournalItem& item) {
  ListedExposure listed;
  listed.item_id = item.item_id;
  listed.kind = KindName(flow, row.kind);
  listed.scene = row.scene;
  listed.position = item.position;
  listed.at = place.at;
  listed.request_id = row.request_id;
  return listed;
}

WhyReason WhyReasonOf(const WhyAnswer& answer, bool journal_read_whole) {
  if (answer.similar) return WhyReason::kSimilar;
  if (!answer.seen) return answer.in_snapshot.value_or(false) ? WhyReason::kFilter : WhyReason::kNotSeen;
  bool by_served_alone = !answer.segments.empty();
  bool journal_would_know = journal_read_whole && answer.journal_whole_from.has_value();
  for (const WhySegment& segment : answer.segments) {
    if (!segment.counts) continue;
    by_served_alone &= segment.kind == "served";
    journal_would_know &= DayOf(segment.first_at) >= answer.journal_whole_from.value_or(Day{});
  }
  // An event of any kind but "removed" explains the fingerprint of an item that it named.
  const auto explains = [](const ListedExposure& exposure) { return exposure.kind != "removed"; };
  if (journal_would_know && std::none_of(answer.exposures->begin(), answer.exposures->end(), explains)) {
    return WhyReason::kFingerprint;
  }
  return by_served_alone ? WhyReason::kServed : WhyReason::kExposed;
}

}  // namespace

Result<ExposuresAnswer> ListExposures(const UserPlace& place, std::string_view asked_of,
                                      const ExposuresQuestion& question) {
  const PartitionFlow& flow = place.flow;
  if (!flow.journal) {
    return Fail(
        Code::kNotFound,
        "exposures: no journal is kept here. Remedy: set store.explain_days, the number of days to keep");
  }
  const std::string asked =
      fmt::format("{}/{}{}", asked_of, question.item ? "item/" : "all", question.item.value_or(""));
  std::optional<ListCursor> cursor;
  if (!question.cursor.empty()) {
    auto decoded = DecodeCursor(question.cursor, asked);
    if (!decoded) return Fail(decoded.error());
    cursor = *decoded;
  }
  ExposuresAnswer answer;
  const auto encoded = flow.reader.ReadUser(place.filter, place.user);
  if (!encoded) return Fail(encoded.error());
  DeltaView view;
  if (!ParseDelta(*encoded, view)) return Fail(NotADelta(*encoded));
  PartitionJournal::Question rows{
      flow.state.options().filters[place.filter].id, place.user, view.erased, question.since, {}};
  if (cursor) rows.from = cursor->place;
  ListCursor last;
  size_t rows_read = 0;
  const Status read = flow.journal->Read(rows, [&](const JournalPlace& at, const JournalRow& row) {
    for (uint32_t i = 0; i < row.items.size(); ++i) {
      if (cursor && at == cursor->place && i <= cursor->item) continue;
      if (question.item && row.items[i].item_id != *question.item) continue;
      if (answer.exposures.size() == question.limit) {
        answer.next = EncodeCursor(last, asked);
        return false;
      }
      answer.exposures.push_back(Listed(flow, at, row, row.items[i]));
      last = {at, i};
    }
    if (++rows_read < kRowsReadMax) return true;
    answer.next = EncodeCursor({at, kWholeRow}, asked);
    return false;
  });
  if (!read) return Fail(read.error());
  return answer;
}

Status ExplainItem(const UserPlace& place, const AnswerLimits& limits, std::string_view item,
                   WhyAnswer& answer) {
  const PartitionFlow& flow = place.flow;
  const FilterPolicy& policy = flow.state.options().filters[place.filter];
  const Fingerprint fingerprint = FingerprintOf(item);
  if (policy.snapshot) {
    std::string known_id;
    std::string bytes;
    const Status rendered =
        flow.reader.RenderUser(place.filter, place.user, policy.snapshot->shape(), known_id, bytes);
    if (!rendered) return Fail(rendered.error());
    const auto snapshot = SnapshotView::Parse(bytes);
    if (!snapshot) return Fail(Code::kCorrupt, snapshot.error().message);
    answer.in_snapshot = snapshot->MightContain(fingerprint);
  }
  const auto encoded = flow.reader.ReadUser(place.filter, place.user);
  if (!encoded) return Fail(encoded.error());
  DeltaView view;
  if (!ParseDelta(*encoded, view)) return Fail(NotADelta(*encoded));
  auto segments = SegmentsWith(view, fingerprint, policy, limits, answer.seen);
  if (!segments) return Fail(NotADelta(*encoded));
  answer.segments = std::move(*segments);
  answer.removed = RemovedOn(view, fingerprint);
  answer.erased = view.erased;

  bool all_read = true;
  if (flow.journal) {
    answer.journal_whole_from = flow.journal->WholeFrom();
    answer.exposures.emplace();
    size_t rows_read = 0;
    const PartitionJournal::Question rows{policy.id, place.user, view.erased, {0}, {}};
    const Status read = flow.journal->Read(rows, [&](const JournalPlace& at, const JournalRow& row) {
      for (const JournalItem& of_row : row.items) {
        if (of_row.item_id == item) answer.exposures->push_back(Listed(flow, at, row, of_row));
      }
      all_read = ++rows_read < kRowsReadMax;
      return all_read && answer.exposures->size() < kWhyExposuresMax;
    });
    if (!read) return Fail(read.error());
  }
  answer.because = WhyReasonOf(answer, all_read);
  return {};
}

}  // namespace seen
