#include "tools/check/event_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "decode/record_events.h"
#include "flow/event_rules.h"

namespace seen {

Result<OracleRules> RulesOf(const Config& config) {
  OracleRules rules;
  rules.future_skew_s_max = static_cast<int32_t>(config.input.future_skew_max.count());
  rules.event_bytes_max = config.input.event_bytes_max;
  auto plan = EventPlan::Make(config.input.format);
  if (!plan) return Fail(Code::kInvalidArgument, plan.error().path + ": " + plan.error().message);
  rules.plan = std::move(*plan);
  rules.filters.clear();
  for (const FilterConfig& filter : config.filters) {
    FilterRules of;
    of.name = filter.name;
    of.window_days = filter.window_days;
    of.by_creation = filter.window_by == WindowBy::kItemCreatedAt;
    of.items_max = filter.items_max;
    of.items_per_day_max = filter.items_per_day_max;
    of.exposures_min = filter.exposures_min;
    of.cooldown_days = filter.cooldown_days;
    of.served_ttl_s = filter.served_ttl_s;
    for (const KindConfig& kind : filter.kinds) {
      const auto& declared = config.input.format.declared_kinds;
      const auto known = std::find_if(declared.begin(), declared.end(),
                                      [&](const DeclaredKind& one) { return one.name == kind.name; });
      if (known != declared.end()) of.kinds.push_back({known->number, kind.window_days});
    }
    if (filter.snapshot) of.snapshot_topic = filter.snapshot->topic;
    rules.filters.push_back(std::move(of));
  }
  return rules;
}

namespace {

// The daemon's default format, with event kinds.
std::shared_ptr<const EventPlan> FormatPlanOf(const OracleRules& rules) {
  if (rules.plan) return rules.plan;
  EventFormat format;
  format.wanted.kind = true;
  return *EventPlan::Make(format);
}

const KindRule* RuleOf(const FilterRules& filter, EventKind kind) {
  const auto found = std::find_if(filter.kinds.begin(), filter.kinds.end(),
                                  [&](const KindRule& rule) { return rule.kind == kind; });
  return found == filter.kinds.end() ? nullptr : &*found;
}

}  // namespace

EventJudge::EventJudge(const OracleRules& rules)
    : rules_(rules), decoder_(rules.event_bytes_max, FormatPlanOf(rules)), too_old_(rules.filters.size()) {}

// Judges the age by the record's own timestamp, so that a replay decides the same.
bool EventJudge::IsLate(const FilterRules& filter, const Event& event, Day created, TimeMs timestamp) const {
  const Day day = DayOf(event.exposed_at);
  const Day today = DayOf(timestamp);
  switch (event.kind) {
    case EventKind::kExposed:
      return (filter.by_creation ? std::min(created, day) : day) < today - filter.window_days;
    case EventKind::kServed: {
      if (!filter.served_ttl_s) return false;
      const int64_t width = std::max<int64_t>(1, *filter.served_ttl_s / 6);
      const int64_t end = (event.exposed_at.value / 1000 / width + 1) * width + 6 * width;
      return end <= timestamp.value / 1000;
    }
    case EventKind::kRemoved: {
      int32_t days = filter.window_days;
      for (const KindRule& rule : filter.kinds) days = std::max(days, rule.window_days);
      return day < today - days;
    }
    case EventKind::kErased:
      return false;
  }
  return day < today - RuleOf(filter, event.kind)->window_days;
}

RuleBits EventJudge::Concerned(const Event& event, Day created, TimeMs timestamp, RuleBits& late) const {
  RuleBits concerned = 0;
  for (size_t i = 0; i < rules_.filters.size(); ++i) {
    const FilterRules& filter = rules_.filters[i];
    const bool is_declared = static_cast<uint8_t>(event.kind) >= kDeclaredKindFirst;
    if ((event.filters >> i & 1) == 0 || (is_declared && RuleOf(filter, event.kind) == nullptr)) continue;
    RuleBits& bits = IsLate(filter, event, created, timestamp) ? late : concerned;
    bits = static_cast<RuleBits>(bits | 1u << i);
  }
  return concerned;
}

Status EventJudge::Malformed(const Record& record, int16_t source, std::string_view why) {
  if (counts_.malformed++ == 0) {
    const std::string where = source < 0 ? "" : fmt::format("partition {}, ", source);
    first_malformed_ = fmt::format("{}offset {}: {}", where, record.offset, why);
  }
  return {};
}

std::optional<JudgedEvent> EventJudge::Read(const Record& record, int16_t source) {
  std::optional<JudgedEvent> read;
  (void)ReadAll(record, source, [&](const JudgedEvent& event) -> Status {
    read = event;
    return {};
  });
  return read;
}

Status EventJudge::ReadAll(const Record& record, int16_t source, const Visit& visit) {
  // Marks of a replay's beginning and end are no events.
  if (record.replay != nullptr && record.replay->kind != ReplayNote::Kind::kRecord) return {};
  ++counts_.records;
  const uint64_t malformed = counts_.malformed;
  several_ = false;
  if (Status visited = ReadOne(record, source, visit); !visited) return visited;
  if (!several_ || !SplitEvents(record.value, events_)) return {};
  counts_.malformed = malformed;
  for (const std::string_view event : events_) {
    Record one = record;
    one.value = event;
    if (Status visited = ReadOne(one, source, visit); !visited) return visited;
  }
  return {};
}

Status EventJudge::ReadOne(const Record& record, int16_t source, const Visit& visit) {
  if (record.value_is_null) return Malformed(record, source, "the record has no value");
  const auto event = decoder_.Decode(record.value);
  if (!event) {
    if (event.error().reason == RejectReason::kSchemaPending)
      return Fail(Code::kUnavailable, event.error().message);
    several_ = MayHoldSeveral(event.error());
    return Malformed(record, source, event.error().message);
  }
  if (event->skip != SkipReason::kNone) {
    ++counts_.skipped;
    return {};
  }
  // As the daemon's intake: a record that doesn't say when it was written is judged by the event's time.
  const std::chrono::milliseconds skew_max = std::chrono::seconds(rules_.future_skew_s_max);
  const TimeMs now = SystemClock().WallNow();
  const bool has_time = HasTime(record.timestamp, now);
  if (const auto rejection = TooFarAhead(*event, record.timestamp, skew_max))
    return Malformed(record, source, rejection->message);
  const auto written_at = [&](TimeMs exposed_at) {
    return has_time ? record.timestamp : WrittenAt(exposed_at, now);
  };
  const bool own_times =
      std::any_of(event->details.begin(), event->details.end(),
                  [](const ItemDetails& details) { return details.exposed_at.has_value(); });
  if (!own_times) return visit(Judge(*event, written_at(event->exposed_at), source));
  for (size_t i = 0; i < event->items.size(); ++i) {
    Event one = *event;
    one.exposed_at = event->details[i].exposed_at.value_or(event->exposed_at);
    one.items = event->items.subspan(i, 1);
    one.details = event->details.subspan(i, 1);
    if (Status visited = visit(Judge(one, written_at(one.exposed_at), source)); !visited) return visited;
  }
  return {};
}

JudgedEvent EventJudge::Judge(const Event& event, TimeMs written_at, int16_t source) {
  const Day day = DayOf(event.exposed_at);
  items_.clear();
  for (size_t i = 0; i < event.items.size(); ++i) {
    Day created = day;
    // If the item was created after its exposure, the day of the exposure counts.
    if (i < event.details.size() && event.details[i].created_at)
      created = std::min(day, DayOf(*event.details[i].created_at));
    RuleBits late = 0;
    const RuleBits filters = Concerned(event, created, written_at, late);
    items_.push_back({event.items[i].item_id, created, filters});
    if (event.kind == EventKind::kRemoved) continue;
    for (size_t at = 0; at < too_old_.size(); ++at) too_old_[at] += late >> at & 1;
    if (event.kind == EventKind::kExposed && filters != 0) ++counts_.exposures;
    if (filters == 0) ++(late != 0 ? counts_.too_old : counts_.uncovered);
  }
  return {.user_id = event.user_id,
          .kind = event.kind,
          .second = static_cast<uint32_t>(event.exposed_at.value / 1000),
          .source = source,
          .items = items_};
}

}  // namespace seen
