#include "app/partition_set.h"

#include <algorithm>
#include <thread>

#include "base/log.h"

namespace seen {
namespace {
constexpr std::chrono::seconds kCheckpointRetry{1};
constexpr int kLastCheckpointTries = 3;

// Published by sweeps, over all partitions of the topic.
constexpr double kSweptUsersPerSecond = 2'000;

// The store's number of a kind that the configuration declares.
uint8_t NumberOf(const Config& config, const std::vector<uint8_t>& kinds, std::string_view name) {
  const auto& declared = config.input.format.declared_kinds;
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const DeclaredKind& kind) { return kind.name == name; });
  return kinds[static_cast<size_t>(found - declared.begin())];
}

std::string Name(int32_t partition) { return "partition " + std::to_string(partition); }
}  // namespace

PartitionSet::PartitionSet(Options options, StoreDirectory& directory, const StoreResources& resources,
                           const MemoryBudget& budget, DeadLetterSink& dead_letters, Reporter& reporter,
                           const Clock& clock)
    : options_(options),
      directory_(directory),
      resources_(resources),
      budget_(budget),
      journal_budget_(std::make_shared<JournalBudget>(options.config->store.explain_bytes)),
      dead_letters_(dead_letters),
      reporter_(reporter),
      clock_(clock) {}

Result<int64_t> PartitionSet::Open(const Assignment& assignment) {
  const int32_t partition = assignment.partition;
  const auto with_state = directory_.PartitionsWithState();
  if (!with_state) return Fail(with_state.error());
  const bool has_state = std::binary_search(with_state->begin(), with_state->end(), partition);
  if (!has_state && assignment.committed_offset && !options_.rebuild) {
    return Fail(
        Code::kRefused,
        Name(partition) + ": there is no state in " + options_.config->store.directory +
            ", but the group \"" + options_.config->kafka.group_id + "\" has read the topic up to offset " +
            std::to_string(*assignment.committed_offset) +
            ": the state was lost, or store.directory is wrong. Remedy: mount the right directory, or start "
            "once with --rebuild to read the partition from its earliest record");
  }
  auto opened = OpenStore(partition, assignment.partition_count, assignment.watermarks);
  if (!opened && opened.error().code == Code::kRefused && options_.rebuild) {
    log::Warning("state dropped, reading from the earliest",
                 {{"partition", partition}, {"reason", opened.error().message}});
    if (Status removed = directory_.RemovePartition(partition); !removed) return Fail(removed.error());
    opened = OpenStore(partition, assignment.partition_count, assignment.watermarks);
  }
  if (!opened) return Fail(opened.error());
  const int64_t from = (*opened)->flow->intake.ReadFrom(assignment.watermarks.low);
  log::Info("partition opened", {{"partition", partition},
                                 {"next_offset", (*opened)->flow->state.next_offset()},
                                 {"high_watermark", assignment.watermarks.high},
                                 {"state", has_state ? "found" : "new"}});
  open_.Add(std::move(*opened));
  return from;
}

Result<PartitionPointer> PartitionSet::OpenStore(int32_t partition, int32_t partition_count,
                                                 const Watermarks& watermarks) {
  const Config& config = *options_.config;
  StoreOptions store_options{directory_.path(),
                             {config.input.topic, partition, partition_count,
                              std::string(PartitionerName(config.input.partitioner))},
                             {},
                             resources_};
  store_options.delta_cache_bytes = budget_.DeltaCacheBytes(partition_count);
  store_options.journal = config.store.explain_days > 0;
  for (const FilterConfig& filter : config.filters) {
    StoredFilter stored;
    stored.name = filter.name;
    stored.window_days = filter.window_days;
    stored.limits.items_per_day_max = filter.items_per_day_max;
    store_options.filters.push_back(std::move(stored));
  }
  for (const DeclaredKind& kind : config.input.format.declared_kinds)
    store_options.kinds.push_back(kind.name);
  auto store = RocksPartitionStore::Open(std::move(store_options));
  if (!store) return Fail(store.error());
  auto position = (*store)->ReadPosition();
  if (!position) return Fail(position.error());
  if (*position && (*position)->next_offset > watermarks.high) {
    return Fail(
        Code::kRefused,
        Name(partition) + ": the state reaches offset " + std::to_string((*position)->next_offset) +
            ", but topic \"" + config.input.topic + "\" ends at " + std::to_string(watermarks.high) +
            ": the topic was recreated, or its log was cut. Remedy: point input.topic at the right topic, or "
            "start once with --rebuild to drop this partition's state and read from the earliest record");
  }

  PartitionOptions flow_options;
  flow_options.partition = partition;
  flow_options.partition_count = partition_count;
  flow_options.partitioner = config.input.partitioner;
  flow_options.plan = options_.plan;
  flow_options.groups = options_.groups;
  flow_options.event_bytes_max = config.input.event_bytes_max;
  flow_options.future_skew_max = config.input.future_skew_max;
  flow_options.tail_bytes_max = budget_.TailBytes(partition_count);
  if (config.store.explain_days > 0) flow_options.journal = {config.store.explain_days, journal_budget_};
  flow_options.checkpoint_interval = config.store.checkpoint_interval;
  flow_options.behind_lag_messages = static_cast<int64_t>(config.http.ready_lag_messages);
  flow_options.publish_entries_max = budget_.PublishEntries(partition_count);
  const std::vector<uint8_t>& kinds = (*store)->kind_numbers();
  std::copy(kinds.begin(), kinds.end(), flow_options.kinds.begin());
  flow_options.sweep_users_per_second = kSweptUsersPerSecond / partition_count;
  if (config.unexposed) {
    uint32_t ttl_s = 0;
    for (const FilterConfig& filter : config.filters) ttl_s = std::max(ttl_s, filter.served_ttl_s);
    flow_options.unexposed =
        UnexposedPolicy{ttl_s / kServedWidths, static_cast<uint32_t>(config.unexposed->grace.count())};
  }
  for (size_t i = 0; i < config.filters.size(); ++i) {
    const FilterConfig& filter = config.filters[i];
    FilterPolicy policy;
    policy.id = (*store)->filter_ids()[i];
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
      policy.kinds.push_back({kind.name, NumberOf(config, kinds, kind.name), kind.window_days});
    }
    if (filter.snapshot) {
      policy.snapshot = {filter.snapshot->shape, filter.snapshot->debounce};
    }
    flow_options.filters.push_back(std::move(policy));
  }

  auto open = std::make_shared<OpenPartition>();
  open->partition = partition;
  if (config.input.source_topic) open->answers_from.store(OpenPartition::kNotYet);
  open->store = std::move(*store);
  open->flow =
      std::make_unique<PartitionFlow>(std::move(flow_options), *position, watermarks.low, watermarks.high,
                                      *open->store, dead_letters_, reporter_, clock_);
  open->flow->state.SetWatermarks(watermarks.low, watermarks.high);
  if (*position && (*position)->next_offset < watermarks.low) open->flow->intake.SkipLost(watermarks.low);
  return open;
}

Result<int64_t> PartitionSet::Rebuild(int32_t partition, const Watermarks& watermarks) {
  PartitionPointer open = open_.Take(partition);
  const int32_t partition_count = open->flow->state.options().partition_count;
  std::weak_ptr<OpenPartition> gone = open;
  open.reset();
  // A reader may still hold it for a moment.
  for (int i = 0; i < 100 && !gone.expired(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (Status removed = directory_.RemovePartition(partition); !removed) return Fail(removed.error());
  auto opened = OpenStore(partition, partition_count, watermarks);
  if (!opened) return Fail(opened.error());
  log::Warning("state dropped, reading from the earliest", {{"partition", partition}});
  const int64_t from = (*opened)->flow->intake.ReadFrom(watermarks.low);
  open_.Add(std::move(*opened));
  return from;
}

int64_t PartitionSet::Close(int32_t partition, bool write_checkpoint) {
  PartitionPointer open = open_.Take(partition);
  if (!open) return -1;
  const std::lock_guard worker(open->worker_mutex);
  open->closed = true;
  int64_t committed = -1;
  // At most two: the one that may be frozen already, and the rest.
  for (int i = 0; write_checkpoint && i < kLastCheckpointTries && !open->stopped.load(); ++i) {
    if (!open->flow->state.HasFrozen()) {
      if (!open->flow->intake.HasChanges()) break;
      open->flow->intake.Freeze();
    }
    const std::lock_guard checkpoint(open->checkpoint_mutex);
    if (!open->flow->state.HasFrozen()) continue;
    const auto written = open->flow->checkpoint.Write();
    if (!written) {
      log::Error("last checkpoint failed; the records since the one before it will be read again",
                 {{"partition", partition}, {"reason", written.error().message}});
      break;
    }
    committed = *written;
    if (!open->flow->intake.HasChanges()) break;
  }
  dead_letters_.Forget(partition);
  log::Info("partition closed", {{"partition", partition}, {"next_offset", open->flow->state.next_offset()}});
  return committed;
}

int64_t PartitionSet::CheckpointOnce(OpenPartition& open) {
  const std::lock_guard lock(open.checkpoint_mutex);
  if (!open.flow->state.HasFrozen() || open.stopped.load() || clock_.Now() < open.checkpoint_retry_at)
    return -1;
  if (open.flow->checkpoint.AwaitsDeadLetters()) return -1;
  const auto written = open.flow->checkpoint.Write();
  if (written) {
    open.disk_full.store(false, std::memory_order_release);
    return *written;
  }
  open.checkpoint_retry_at = clock_.Now() + kCheckpointRetry;
  if (written.error().code == Code::kNoSpace) open.disk_full.store(true, std::memory_order_release);
  if (written.error().code == Code::kCorrupt) open.Stop(written.error().message);
  return -1;
}

}  // namespace seen
