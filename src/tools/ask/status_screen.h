#pragma once
// A daemon's status on one screen.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/clock.h"

namespace seen {

/// What a person at 3 am must know first stands first. Only those columns of partitions are shown that say
/// something.
struct StatusScreen {
  bool is_well = false;  // ready, and nothing in `troubles`
  std::string verdict;   // "READY", "READY, with troubles", "NOT READY"
  std::string text;      // lines, each with its end; without the verdict
};

/// `status`: the JSON of GET /v1/status. What it lacks, as of another version, is left out.
StatusScreen MakeStatusScreen(const nlohmann::json& status, TimeMs now);

/// "0.3 s", "12 s", "4 min", "3 h", "9 d"
std::string SpanText(int64_t ms);

}  // namespace seen
