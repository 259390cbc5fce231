#pragma once
// The result of verify, for people and for programs.

#include <cstdint>
#include <string>
#include <vector>

#include "tools/check/event_judge.h"
#include "tools/check/user_check.h"

namespace seen {

struct VerifiedFilter {
  std::string name;
  uint64_t too_old = 0;  // (user, item) pairs of the whole topic that were too old on arrival
  CheckOutcome outcome;
};

struct VerifyReport {
  OracleCounts counts;
  bool from_the_start = true;
  bool published = false;
  uint64_t users = 0;
  uint64_t buckets = 0;
  uint64_t spilled_bytes = 0;
  std::vector<VerifiedFilter> filters;

  /// The sum over all filters.
  CheckOutcome Sum() const;
};

std::string VerifyJson(const VerifyReport& report);
std::string VerifyText(const VerifyReport& report);

}  // namespace seen
