#pragma once
// What /readyz answers, from the daemon's status. Pure.

#include <string>
#include <vector>

#include "query/daemon_status.h"

namespace seen {

struct Readiness {
  bool ready = false;
  std::string reason;                 // for people; empty when ready
  std::vector<std::string> troubles;  // for people: what doesn't work, ready or not
};

/// Ready means that users get answers here, or from daemons that requests are passed on to. The daemon
/// becomes ready when every partition that it reads answers and has at most `ready_lag_messages` to read. A
/// daemon that reads no partition becomes ready when requests can be passed on.
/// Then the daemon stays ready while any partition answers or requests can be passed on. So a partition that
/// is refused, held or catching up costs the others nothing. Partitions that are refused or have no owner
/// don't keep the daemon from becoming ready.
/// `was_ready`: what the last call returned. `status.not_ready_reason` set: nothing works, and the daemon
/// isn't ready. `waits`: what else keeps the daemon from becoming ready; may be empty.
Readiness JudgeReadiness(const DaemonStatus& status, int64_t ready_lag_messages,
                         const std::vector<std::string>& waits, bool was_ready);

}  // namespace seen
