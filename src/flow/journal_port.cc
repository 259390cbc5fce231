#include "flow/journal_port.h"

#include <utility>

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

}  // namespace seen
