#include "app/kept_copies.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "state_stream/stream_end.h"
#include "store/resting_rows.h"

namespace seen {
namespace {
namespace fs = std::filesystem;

struct KeptCopy {
  fs::file_time_type written;
  int32_t partition = 0;
  uint64_t bytes = 0;
};

// Files that change or disappear meanwhile count as nothing.
KeptCopy Measured(const std::string& directory, int32_t partition) {
  KeptCopy copy{fs::file_time_type::min(), partition, 0};
  std::error_code code;
  for (auto file =
           fs::recursive_directory_iterator(StoreDirectory::PartitionPath(directory, partition), code);
       !code && file != fs::recursive_directory_iterator(); file.increment(code)) {
    std::error_code ignored;
    if (!file->is_regular_file(ignored)) continue;
    if (const auto bytes = file->file_size(ignored); !ignored) copy.bytes += bytes;
    if (const auto written = file->last_write_time(ignored); !ignored)
      copy.written = std::max(copy.written, written);
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
  uint64_t bytes = 0;
  for (const int32_t partition : *partitions) {
    {
      const MutexLock lock(mutex_);
      if (used_.contains(partition)) continue;
    }
    copies.push_back(Measured(directory_.path(), partition));
    bytes += copies.back().bytes;
  }
  std::sort(copies.begin(), copies.end(),
            [](const KeptCopy& a, const KeptCopy& b) { return a.written < b.written; });
  StateTopicReader reader(options_.topic, thread_.stopping());
  for (const KeptCopy& copy : copies) {
    if (bytes <= options_.bytes_max || thread_.stopping()) break;
    if (const auto is_there = IsInTopic(reader, copy.partition); !is_there || !*is_there) continue;
    const MutexLock lock(mutex_);
    if (used_.contains(copy.partition)) continue;
    if (const Status removed = directory_.RemovePartition(copy.partition); !removed) {
      log::Warning("a copy of another daemon's partition can't be removed",
                   {{"partition", copy.partition}, {"reason", removed.error().message}});
      continue;
    }
    bytes -= copy.bytes;
    log::Info("a copy of another daemon's partition was removed: all copies are over state.keep_gib",
              {{"partition", copy.partition}, {"bytes", copy.bytes}});
  }
  bytes_.store(bytes, std::memory_order_relaxed);
}

Result<bool> KeptCopies::IsInTopic(StateTopicReader& reader, int32_t partition) const {
  const auto resting = ReadRestingState(directory_.path(), partition);
  if (!resting) return Fail(resting.error());
  if (!*resting || !(*resting)->position) return true;  // the folder holds no state
  const auto end = reader.End(partition);
  if (!end) return Fail(end.error());
  const auto known = ReadStreamEnd(reader, partition, *end);
  if (!known) return Fail(known.error());
  return known->newest_base() != kNoOffset && known->reaches >= *(*resting)->position;
}

}  // namespace seen
