#include "run/items_rekey_reports.h"

#include "base/log.h"

namespace seen {

void ItemsRekeyReports::BatchRekeyed(const RekeyReport& report) {
  for (size_t i = 0; i < kRejectReasons; ++i)
    rejected_[i].fetch_add(report.rejected[i], std::memory_order_relaxed);
}

void ItemsRekeyReports::EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) {
  if (!budget_.Allow()) return;
  log::Warning("item rejected", {{"reason", RejectReasonName(rejection.reason)},
                                 {"detail", rejection.message},
                                 {"source_partition", partition},
                                 {"offset", offset},
                                 {"lines_held_back", budget_.TakeHeldBack()}});
}

void ItemsRekeyReports::RekeyingLost(int32_t partition, const LostRange& range) {
  log::Error("items were deleted before they were put in order",
             {{"source_partition", partition},
              {"from_offset", range.from},
              {"to_offset", range.to},
              {"remedy", "lengthen the retention of items.topic"}});
}

std::array<uint64_t, kRejectReasons> ItemsRekeyReports::rejected() const {
  std::array<uint64_t, kRejectReasons> counts{};
  for (size_t i = 0; i < kRejectReasons; ++i) counts[i] = rejected_[i].load(std::memory_order_relaxed);
  return counts;
}

}  // namespace seen
