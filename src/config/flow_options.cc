#include "config/flow_options.h"

#include <algorithm>

namespace seen {
namespace {

// How many users sweeps may publish per second, over all partitions of the topic.
constexpr double kSweptUsersPerSecond = 2'000;

// The store's number for a kind that the configuration declares.
uint8_t NumberOf(const Config& config, const std::vector<uint8_t>& kinds, std::string_view name) {
  const auto& declared = config.input.format.declared_kinds;
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const DeclaredKind& kind) { return kind.name == name; });
  return kinds[static_cast<size_t>(found - declared.begin())];
}

}  // namespace

std::vector<StoredFilter> StoredFiltersOf(const Config& config) {
  std::vector<StoredFilter> filters;
  for (const FilterConfig& filter : config.filters) {
    StoredFilter stored;
    stored.name = filter.name;
    stored.window_days = filter.window_days;
    stored.limits.items_per_day_max = filter.items_per_day_max;
    for (const KindConfig& kind : filter.kinds) stored.kinds.push_back({kind.name, kind.window_days});
    filters.push_back(std::move(stored));
  }
  return filters;
}

std::vector<std::string> DeclaredKindNames(const Config& config) {
  std::vector<std::string> names;
  names.reserve(config.input.format.declared_kinds.size());
  for (const DeclaredKind& kind : config.input.format.declared_kinds) names.push_back(kind.name);
  return names;
}

std::vector<std::string> SnapshotTopicsOf(const Config& config) {
  std::vector<std::string> topics;
  for (const FilterConfig& filter : config.filters) {
    if (filter.snapshot) topics.push_back(filter.snapshot->topic);
  }
  return topics;
}

StoreIdentity IdentityOf(const Config& config, int32_t partition, int32_t partition_count) {
  return {config.input.topic, partition, partition_count,
          std::string(PartitionerName(config.input.partitioner))};
}

PartitionOptions FlowOptionsOf(const Config& config, int32_t partition, int32_t partition_count,
                               const StoredNumbers& numbers) {
  PartitionOptions options;
  options.partition = partition;
  options.partition_count = partition_count;
  options.partitioner = config.input.partitioner;
  options.event_bytes_max = config.input.event_bytes_max;
  options.future_skew_max = config.input.future_skew_max;
  options.replay_idle = config.input.replay_idle;
  options.checkpoint_interval = config.store.checkpoint_interval;
  options.behind_lag_messages = static_cast<int64_t>(config.http.ready_lag_messages);
  std::copy(numbers.kinds.begin(), numbers.kinds.end(), options.kinds.begin());
  options.sweep_users_per_second = kSweptUsersPerSecond / partition_count;
  if (config.unexposed) {
    uint32_t ttl_s = 0;
    for (const FilterConfig& filter : config.filters) ttl_s = std::max(ttl_s, filter.served_ttl_s);
    options.unexposed =
        UnexposedPolicy{ttl_s / kServedWidths, static_cast<uint32_t>(config.unexposed->grace.count())};
  }
  for (size_t i = 0; i < config.filters.size(); ++i) {
    const FilterConfig& filter = config.filters[i];
    FilterPolicy policy;
    policy.id = numbers.filters[i];
    policy.name = filter.name;
    policy.window_days = filter.window_days;
    policy.items_max = filter.items_max;
    policy.limits.items_per_day_max = filter.items_per_day_max;
    policy.limits.served_width_s = filter.served_ttl_s / kServedWidths;
    policy.limits.repeated = filter.exposures_min > 1;
    policy.window_by = filter.window_by;
    policy.exposures_min = filter.exposures_min;
    policy.cooldown_days = filter.cooldown_days;
    policy.similar = filter.similar;
    for (const KindConfig& kind : filter.kinds) {
      policy.kinds.push_back({kind.name, NumberOf(config, numbers.kinds, kind.name), kind.window_days});
    }
    policy.past_kinds = numbers.past_kinds[i];
    if (filter.snapshot) {
      policy.snapshot = filter.snapshot->policy;
      policy.topic = filter.snapshot->topic;
    }
    policy.updates = filter.snapshot && filter.snapshot->updates;
    options.filters.push_back(std::move(policy));
  }
  return options;
}

}  // namespace seen
