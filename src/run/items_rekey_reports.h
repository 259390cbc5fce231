#pragma once
// Counts and logs what re-keying reports of items. Rejected items are in the dead letters.

#include <array>
#include <atomic>

#include "base/log_budget.h"
#include "flow/reporter.h"

namespace seen {

/// Any thread.
class ItemsRekeyReports final : public RekeyReporter {
 public:
  void BatchRekeyed(const RekeyReport& report) override;
  void EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) override;
  void RekeyingLost(int32_t partition, const LostRange& range) override;
  std::array<uint64_t, kRejectReasons> rejected() const;

 private:
  std::array<std::atomic<uint64_t>, kRejectReasons> rejected_{};
  LogBudget budget_;
};

}  // namespace seen
