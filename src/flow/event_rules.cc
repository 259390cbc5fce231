#include "flow/event_rules.h"

#include <algorithm>

namespace seen {

ChangeKind EventRules::ChangeOf(EventKind kind) const {
  switch (kind) {
    case EventKind::kExposed:
      return ChangeKind::kExposed;
    case EventKind::kServed:
      return ChangeKind::kServed;
    case EventKind::kRemoved:
      return ChangeKind::kRemoved;
    case EventKind::kErased:
      return ChangeKind::kErased;
  }
  return static_cast<ChangeKind>(options_.kinds[static_cast<uint8_t>(kind) - kDeclaredKindFirst]);
}

FilterMask EventRules::FiltersOf(const Event& event, FilterMask covering, TimeMs record_timestamp) const {
  // An erasure counts however old it is, because bytes from before the window are dropped late.
  if (event.kind == EventKind::kErased) return filters_.all;
  FilterMask filters = covering;
  for (size_t i = 0; i < options_.filters.size(); ++i) {
    if (!Concerns(options_.filters[i], event, record_timestamp)) {
      filters = static_cast<FilterMask>(filters & ~(1u << i));
    }
  }
  return filters;
}

bool EventRules::Concerns(const FilterPolicy& filter, const Event& event, TimeMs record_timestamp) const {
  switch (event.kind) {
    case EventKind::kExposed:
      return !filter.IsTooOld(event.exposed_at, record_timestamp);
    case EventKind::kServed:
      return !filter.ServedIsTooOld(event.exposed_at, record_timestamp);
    case EventKind::kRemoved: {
      // Nothing from before all windows is left to remove.
      int32_t days = filter.window_days;
      for (const KindPolicy& kind : filter.kinds) days = std::max(days, kind.window_days);
      return DayOf(event.exposed_at) >= DayOf(record_timestamp) - days;
    }
    case EventKind::kErased:
      return true;
  }
  const auto number = static_cast<uint8_t>(ChangeOf(event.kind));
  const auto kind = std::find_if(filter.kinds.begin(), filter.kinds.end(),
                                 [&](const KindPolicy& declared) { return declared.number == number; });
  return kind != filter.kinds.end() && DayOf(event.exposed_at) >= DayOf(record_timestamp) - kind->window_days;
}

}  // namespace seen
