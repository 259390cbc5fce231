#pragma once

#include "app/config.h"
#include "app/daemon_status.h"
#include "app/stop_signal.h"
#include "kafka/admin.h"

namespace seen {

/// Waits, with back-off and saying so, until brokers answer and the input topic exists; makes the snapshot
/// topics (compacted) and the dead-letter topic where they are missing. The input's partition count; 0: asked
/// to stop. kRefused: the broker won't create a topic.
Result<int32_t> WaitForTopics(const Config& config, const Admin& admin, bool embedded_kafka, StopSignal& stop,
                              StatusBoard& status);

}  // namespace seen
