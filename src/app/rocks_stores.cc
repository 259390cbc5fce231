#include "app/rocks_stores.h"

#include <random>

#include "config/flow_options.h"

namespace seen {

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

void RocksStores::Abandon(int32_t partition) {
  if (state_ != nullptr) state_->Abandon(partition);
  if (kept_ != nullptr) kept_->Leave(partition);
}

void RocksStores::Expect(int32_t partition, int32_t partition_count) {
  if (kept_ != nullptr) kept_->Use(partition);
  if (state_ != nullptr) state_->Expect(IdentityOf(config_, partition, partition_count));
}

Result<PartitionStores::Opened> RocksStores::Open(int32_t partition, int32_t partition_count) {
  if (kept_ != nullptr) kept_->Use(partition);
  StoreOptions store_options{directory_.path(), IdentityOf(config_, partition, partition_count),
                             StoredFiltersOf(config_), resources_};
  store_options.delta_cache_bytes = budget_.DeltaCacheBytes(partition_count);
  store_options.journal = config_.store.explain_days > 0;
  store_options.kinds = DeclaredKindNames(config_);
  store_options.topics = SnapshotTopicsOf(config_);
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
  PartitionOptions options = FlowOptionsOf(config_, partition, partition_count,
                                           {store.filter_ids(), store.kind_numbers(), store.past_kinds()});
  options.plan = plan_;
  options.groups = groups_;
  options.retired_filters = store.retired_filters();
  options.retired_topics = store.retired_topics();
  options.tail_bytes_max = budget_.TailBytes(partition_count);
  if (config_.store.explain_days > 0) options.journal = {config_.store.explain_days, journal_budget_};
  options.publish_entries_max = budget_.PublishEntries(partition_count);
  options.publish_incomplete = publish_incomplete_;
  if (config_.updates) {
    options.updates.emplace();
    std::random_device random;
    options.updates->refresh_every = config_.updates->refresh;
    options.updates->bytes_max = budget_.UpdateBytes(partition_count);
    options.updates->generation_if_none = std::uniform_int_distribution<int64_t>(1)(random);
  }
  return options;
}

}  // namespace seen
