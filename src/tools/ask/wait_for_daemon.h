#pragma once

#include <chrono>
#include <map>

#include "base/result.h"
#include "tools/ask/daemon_client.h"

namespace seen {

/// Waits until the daemon is ready and has applied all below `ends` (partition -> offset; empty: all that is
/// in the topic), then, with `published`, until no snapshot is unacknowledged. kUnavailable after `timeout`:
/// what it still waits for.
Status WaitUntilCaughtUp(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends, bool published,
                         std::chrono::duration<double> timeout, bool quiet);

/// The same for the source of what the daemon re-keys: until all below `ends` is in the keyed topic.
Status WaitUntilRekeyed(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends,
                        std::chrono::duration<double> timeout, bool quiet);

}  // namespace seen
