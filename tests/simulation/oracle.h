#pragma once
// Computes what a user has seen, from the log's events and the configuration's rules, as docs/ describes
// them. Uses plain loops over the whole history, and none of the code that it checks.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace seen::sim {

/// The rules of one filter.
struct Rules {
  int32_t window_days = 30;
  uint32_t items_max = std::numeric_limits<uint32_t>::max();
  std::vector<std::string> scenes;       // names, or prefixes with a "*" at the end; none: every event
  int32_t served_ttl_s = 0;              // 0: served items don't count
  std::map<std::string, int32_t> kinds;  // declared kinds with their windows in days
  uint32_t exposures_min = 1;
  std::optional<int32_t> cooldown_days;
  bool by_creation = false;
};

struct LoggedItem {
  std::string id;
  std::optional<int64_t> created_ms;
};

/// An event as a producer sent it.
struct LoggedEvent {
  int64_t record_ms = 0;  // its record's timestamp
  int64_t at_ms = 0;
  std::string kind = "exposed";
  std::string scene;
  std::vector<LoggedItem> items;

  bool takes_back() const { return kind == "removed" || kind == "erased"; }
};

/// The ids of the items that count at `now_ms`. `events`: one user's events in log order.
std::set<std::string> SeenItems(const Rules& rules, const std::vector<const LoggedEvent*>& events,
                                int64_t now_ms);

}  // namespace seen::sim
