#include "tools/check/oracle_rules.h"

#include <algorithm>

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

}  // namespace seen
