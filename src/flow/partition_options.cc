#include "flow/partition_options.h"

#include <algorithm>
#include <utility>

#include "base/result.h"

namespace seen {

void JournalBudget::Report(int32_t partition, std::vector<JournalDay> days) {
  const MutexLock lock(mutex_);
  partitions_[partition] = std::move(days);
  std::map<Day, uint64_t> bytes;
  uint64_t all = 0;
  for (const auto& [of, its_days] : partitions_) {
    for (const JournalDay& day : its_days) {
      bytes[day.day] += day.bytes;
      all += day.bytes;
    }
  }
  int32_t floor = kNone;
  for (auto day = bytes.begin(); all > bytes_max_ && day != bytes.end(); ++day) {
    floor = day->first.since_epoch + 1;
    all -= day->second;
  }
  floor_.store(floor, std::memory_order_relaxed);
}

Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(const PartitionOptions& options,
                                                          PartitionStore& store, const Position& position) {
  auto writer = store.BeginCheckpoint(position);
  if (writer && options.recorder) *writer = options.recorder->Record(std::move(*writer), position);
  return writer;
}

FilterMasks::FilterMasks(const PartitionOptions& options) {
  Check(!options.filters.empty() && options.filters.size() <= kFiltersMax, "1 to 16 filters");
  for (size_t i = 0; i < options.filters.size(); ++i) {
    const FilterPolicy& filter = options.filters[i];
    const auto bit = static_cast<FilterMask>(1u << i);
    const auto add = [&](bool is_one, FilterMask& mask) {
      if (is_one) mask = static_cast<FilterMask>(mask | bit);
    };
    by_id.push_back(FilterIndex(i));
    add((options.covered >> i & 1) != 0, all);
    add(filter.snapshot.has_value(), published);
    add(filter.window_by == WindowBy::kItemCreatedAt, by_creation);
    add(options.updates && filter.snapshot && filter.updates, updates);
    add(options.groups != nullptr && filter.similar != Similar::kOff, similar);
  }
  std::sort(by_id.begin(), by_id.end(),
            [&](size_t a, size_t b) { return options.filters[a].id < options.filters[b].id; });
}

}  // namespace seen
