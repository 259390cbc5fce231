#pragma once
// A daemon's status on one screen.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/clock.h"

namespace seen {

/// The most urgent lines come first, for an operator at 3 am. The table of partitions has the column of lost
/// messages only if some are lost.
struct StatusScreen {
  bool is_well = false;  // ready, and nothing in `troubles`
  std::string verdict;   // "READY", "READY, with troubles", "NOT READY"
  std::string text;      // lines, each with its end; without the verdict
};

/// `status`: the JSON of GET /v1/status. Members that it lacks, as in another version, are left out.
StatusScreen MakeStatusScreen(const nlohmann::json& status, TimeMs now);

/// "0.3 s", "12 s", "4 min", "3 h", "9 d"
std::string SpanText(int64_t ms);

}  // namespace seen
