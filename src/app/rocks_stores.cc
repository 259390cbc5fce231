#include "app/rocks_stores.h"

#include <algorithm>

namespace seen {
namespace {
// Published by sweeps, over all partitions of the topic.
constexpr double kSweptUsersPerSecond = 2'000;

// The store's number of a kind that the configuration declares.
uint8_t NumberOf(const Config& config, const std::vector<uint8_t>& kinds, std::string_view name) {
  const auto& declared = config.input.format.declared_kinds;
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const DeclaredKind& kind) { return kind.name == name; });
  return kinds[static_cast<size_t>(found - declared.begin())];
}

}  // namespace

RocksStores::RocksStores(const Config& config, std::shared_ptr<const EventPlan> plan,
                         const ItemGroups* groups, const StoreDirectory& directory,
                         const StoreResources& resources, const MemoryBudget& budget, bool publish_incomplete,
                         StateStreams* state, KeptCopies* kept)
    : config_(config),
      plan_(std::move(plan)),
      groups_(groups),
      directory_(directory),
      resources_(resources),
      budget_(budget),
      publish_incomplete_(publish_incomplete),
      state_(state),
      kept_(kept),
      journal_budget_(std::make_shared<JournalBudget>(config.store.explain_bytes)) {}

StoreIdentity RocksStores::IdentityOf(int32_t partition, int32_t partition_count) const {
  return {config_.input.topic, partition, partition_count,
          std::string(PartitionerName(config_.input.partitioner))};
}

void RocksStores::Abandon(int32_t partition) {
  if (state_ != nullptr) state_->Abandon(partition);
  if (kept_ != nullptr) kept_->Leave(partition);
}

void RocksStores::Expect(int32_t partition, int32_t partition_count) {
  if (kept_ != nullptr) kept_->Use(partition);
  if (state_ != nullptr) state_->Expect(IdentityOf(partition, partition_count));
}

Result<PartitionStores::Opened> RocksStores::Open(int32_t partition, int32_t partition_count) {
  if (kept_ != nullptr) kept_->Use(partition);
  StoreOptions store_options{directory_.path(), IdentityOf(partition, partition_count), {}, resources_};
  store_options.delta_cache_bytes = budget_.DeltaCacheBytes(partition_count);
  store_options.journal = config_.store.explain_days > 0;
  for (const FilterConfig& filter : config_.filters) {
    StoredFilter stored;
    stored.name = filter.name;
    stored.window_days = filter.window_days;
    stored.limits.items_per_day_max = filter.items_per_day_max;
    for (const KindConfig& kind : filter.kinds) stored.kinds.push_back({kind.name, kind.window_days});
    store_options.filters.push_back(std::move(stored));
    if (filter.snapshot) store_options.topics.push_back(filter.snapshot->topic);
  }
  for (const DeclaredKind& kind : config_.input.format.declared_kinds)
    store_options.kinds.push_back(kind.name);
  if (state_ != nullptr) {
    if (Status restored = state_->Restore(store_options.identity); !restored)
      return Fail(std::move(restored.error()));
  }
  auto store = RocksPartitionStore::Open(std::move(store_options));
  if (!store) return Fail(std::move(store.error()));
  PartitionOptions options = FlowOptions(partition, partition_count, **store);
  if (state_ != nullptr) options.recorder = state_->Follow(partition, **store);
  return Opened{std::move(*store), std::move(options)};
}

PartitionOptions RocksStores::FlowOptions(int32_t partition, int32_t partition_count,
                                          const RocksPartitionStore& store) const {
  PartitionOptions options;
  options.partition = partition;
  options.partition_count = partition_count;
  options.partitioner = config_.input.partitioner;
  options.plan = plan_;
  options.groups = groups_;
  options.retired_filters = store.retired_filters();
  options.retired_topics = store.retired_topics();
  options.event_bytes_max = config_.input.event_bytes_max;
  options.future_skew_max = config_.input.future_skew_max;
  options.tail_bytes_max = budget_.TailBytes(partition_count);
  if (config_.store.explain_days > 0) options.journal = {config_.store.explain_days, journal_budget_};
  options.checkpoint_interval = config_.store.checkpoint_interval;
  options.behind_lag_messages = static_cast<int64_t>(config_.http.ready_lag_messages);
  options.publish_entries_max = budget_.PublishEntries(partition_count);
  const std::vector<uint8_t>& kinds = store.kind_numbers();
  std::copy(kinds.begin(), kinds.end(), options.kinds.begin());
  options.publish_incomplete = publish_incomplete_;
  options.sweep_users_per_second = kSweptUsersPerSecond / partition_count;
  if (config_.unexposed) {
    uint32_t ttl_s = 0;
    for (const FilterConfig& filter : config_.filters) ttl_s = std::max(ttl_s, filter.served_ttl_s);
    options.unexposed =
        UnexposedPolicy{ttl_s / kServedWidths, static_cast<uint32_t>(config_.unexposed->grace.count())};
  }
  for (size_t i = 0; i < config_.filters.size(); ++i) {
    const FilterConfig& filter = config_.filters[i];
    FilterPolicy policy;
    policy.id = store.filter_ids()[i];
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
      policy.kinds.push_back({kind.name, NumberOf(config_, kinds, kind.name), kind.window_days});
    }
    policy.past_kinds = store.past_kinds()[i];
    if (filter.snapshot) {
      policy.snapshot = {filter.snapshot->shape, filter.snapshot->debounce};
    }
    options.filters.push_back(std::move(policy));
  }
  return options;
}

}  // namespace seen
