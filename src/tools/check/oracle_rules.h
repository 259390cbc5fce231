#pragma once
// The rules that decide which events count as seen, as in docs/SEEN.md and docs/EVENTS.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "decode/event_plan.h"

namespace seen {

/// A kind of events with a window of its own.
struct KindRule {
  EventKind kind = EventKind::kExposed;
  int32_t window_days = 30;
};

/// The rules of one filter. The names are the configuration's.
struct FilterRules {
  std::string name = "default";
  int32_t window_days = 30;
  bool by_creation = false;  // window_by: "item_created_at"
  uint32_t items_max = 10'000;
  uint32_t items_per_day_max = 50'000;
  uint32_t exposures_min = 1;
  std::optional<int32_t> cooldown_days = std::nullopt;
  std::optional<uint32_t> served_ttl_s = std::nullopt;  // nullopt: not given; then served items may count
  std::vector<KindRule> kinds = {};
  std::string snapshot_topic = {};  // empty: the filter publishes nothing
};

struct OracleRules {
  int32_t future_skew_s_max = 300;
  uint64_t event_bytes_max = 1'048'576;
  std::shared_ptr<const EventPlan> plan;  // nullptr: the default format, with event kinds
  std::vector<FilterRules> filters = {FilterRules{}};
};

/// kInvalidArgument: the configuration's event format is invalid.
Result<OracleRules> RulesOf(const Config& config);

}  // namespace seen
