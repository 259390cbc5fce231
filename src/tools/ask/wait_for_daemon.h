#pragma once

#include <chrono>
#include <map>

#include "base/result.h"
#include "tools/ask/daemon_client.h"

namespace seen {

/// Waits until the daemon is ready and has applied all records below `ends` (partition -> offset; empty: all
/// records of the topic). With `published`, waits until every snapshot is acknowledged, too. kUnavailable
/// after `timeout`; the message says what is still missing.
Status WaitUntilCaughtUp(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends, bool published,
                         std::chrono::duration<double> timeout, bool quiet);

/// The same for the source topic of re-keying: waits until the keyed topic has all records below `ends`.
Status WaitUntilRekeyed(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends,
                        std::chrono::duration<double> timeout, bool quiet);

}  // namespace seen
