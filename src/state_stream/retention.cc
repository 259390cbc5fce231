#include "state_stream/retention.h"

#include <algorithm>

#include "state_stream/restore.h"

namespace seen {
namespace {
constexpr std::chrono::milliseconds kLookEvery{60'000};
}  // namespace

std::map<int32_t, int64_t> StreamTrimmer::Due(const std::map<int32_t, int64_t>& bases, Instant now) {
  std::map<int32_t, int64_t> before;
  if (now - looked_at_ < std::min(kLookEvery, after_)) return before;
  looked_at_ = now;
  std::erase_if(partitions_, [&](const auto& partition) { return !bases.contains(partition.first); });
  for (const auto& [number, newest] : bases) {
    Partition& partition = partitions_[number];
    // A base that is gone, or older offsets: the topic is another one, or its records were deleted.
    if (!partition.whole_since.empty() && newest < partition.whole_since.rbegin()->first) partition = {};
    if (newest < partition.trimmed_to) partition = {};
    if (newest != kNoOffset) partition.whole_since.try_emplace(newest, now);
    for (const auto& [base_at, since] : partition.whole_since) {
      if (now - since >= after_ && base_at > partition.trimmed_to) before[number] = base_at;
    }
  }
  return before;
}

void StreamTrimmer::Trimmed(const std::map<int32_t, int64_t>& before) {
  for (const auto& [number, offset] : before) {
    Partition& partition = partitions_[number];
    partition.trimmed_to = offset;
    partition.whole_since.erase(partition.whole_since.begin(), partition.whole_since.upper_bound(offset));
  }
}

uint64_t RemoveOldest(std::vector<KeptCopy> copies, uint64_t bytes_max,
                      const std::function<bool(const KeptCopy&)>& remove) {
  uint64_t bytes = 0;
  for (const KeptCopy& copy : copies) bytes += copy.bytes;
  std::sort(copies.begin(), copies.end(),
            [](const KeptCopy& a, const KeptCopy& b) { return a.written < b.written; });
  for (const KeptCopy& copy : copies) {
    if (bytes <= bytes_max) break;
    if (remove(copy)) bytes -= copy.bytes;
  }
  return bytes;
}

Result<bool> RestoreReaches(StateLog& log, int32_t partition, int64_t end, int64_t position) {
  const auto known = ReadStreamEnd(log, partition, end);
  if (!known) return Fail(known.error());
  return known->newest_base != kNoOffset && known->reaches >= position;
}

}  // namespace seen
