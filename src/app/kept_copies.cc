#include "app/kept_copies.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "store/resting_rows.h"

namespace seen {
namespace {
namespace fs = std::filesystem;

// Files that change or disappear meanwhile count as nothing.
KeptCopy Measured(const std::string& directory, int32_t partition) {
  KeptCopy copy{partition, std::numeric_limits<int64_t>::min(), 0};
  std::error_code code;
  for (auto file =
           fs::recursive_directory_iterator(StoreDirectory::PartitionPath(directory, partition), code);
       !code && file != fs::recursive_directory_iterator(); file.increment(code)) {
    std::error_code ignored;
    if (!file->is_regular_file(ignored)) continue;
    if (const auto bytes = file->file_size(ignored); !ignored) copy.bytes += bytes;
    if (const auto written = file->last_write_time(ignored); !ignored)
      copy.written = std::max(copy.written, int64_t{written.time_since_epoch().count()});
  }
  return copy;
}

}  // namespace

KeptCopies::KeptCopies(Options options, const StoreDirectory& directory)
    : options_(std::move(options)), directory_(directory) {
  thread_.Start("kept-copies", options_.look_every, [this] {
    Look();
    return options_.look_every;
  });
}

void KeptCopies::Use(int32_t partition) {
  const MutexLock lock(mutex_);
  used_.insert(partition);
}

void KeptCopies::Leave(int32_t partition) {
  const MutexLock lock(mutex_);
  used_.erase(partition);
}

void KeptCopies::Look() {
  const auto partitions = directory_.PartitionsWithState();
  if (!partitions) return;
  std::vector<KeptCopy> copies;
  for (const int32_t partition : *partitions) {
    if (!IsUsed(partition)) copies.push_back(Measured(directory_.path(), partition));
  }
  StateTopicReader reader(options_.topic, thread_.stopping());
  const uint64_t bytes = RemoveOldest(std::move(copies), options_.bytes_max, [&](const KeptCopy& copy) {
    if (thread_.stopping()) return false;
    const auto is_there = IsInTopic(reader, copy.partition);
    return is_there && *is_there && Remove(copy);
  });
  bytes_.store(bytes, std::memory_order_relaxed);
}

bool KeptCopies::IsUsed(int32_t partition) {
  const MutexLock lock(mutex_);
  return used_.contains(partition);
}

bool KeptCopies::Remove(const KeptCopy& copy) {
  const MutexLock lock(mutex_);
  if (used_.contains(copy.partition)) return false;
  if (const Status removed = directory_.RemovePartition(copy.partition); !removed) {
    log::Warning("a copy of another daemon's partition can't be removed",
                 {{"partition", copy.partition}, {"reason", removed.error().message}});
    return false;
  }
  log::Info("a copy of another daemon's partition was removed: all copies are over state.keep_gib",
            {{"partition", copy.partition}, {"bytes", copy.bytes}});
  return true;
}

Result<bool> KeptCopies::IsInTopic(StateTopicReader& reader, int32_t partition) const {
  const auto resting = ReadRestingState(directory_.path(), partition);
  if (!resting) return Fail(resting.error());
  if (!*resting || !(*resting)->read_to) return true;  // the folder holds no state
  const auto end = reader.End(partition);
  if (!end) return Fail(end.error());
  return RestoreReaches(reader, partition, *end, *(*resting)->read_to);
}

}  // namespace seen
