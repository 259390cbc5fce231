#pragma once
// Checks whether a topic's partitions still hold the records that were read from them. Internal to this room.

#include <atomic>
#include <chrono>
#include <map>
#include <span>
#include <string>

#include "flow/log_port.h"
#include "kafka/client_settings.h"

namespace seen::kafka {

struct LogFinding {
  enum class Kind : uint8_t {
    kSame,      // the record is there
    kReplaced,  // another record is there
    kShorter,   // the log ends before it: it was cut or replaced, or a new leader isn't up to date yet
    kGone,      // retention or compaction deleted it: there is nothing to compare
  };
  Kind kind = Kind::kGone;
  int64_t end = -1;  // of the log; -1: not known
};

struct LogCheckOptions {
  std::string brokers;
  ClientSettings client;
  std::string topic;
};

/// Reads these records again. Creates a client for this call, so what another client believes about the topic
/// doesn't matter. Takes at most `timeout`, and ends soon after `stop` is set. A partition that doesn't
/// answer has no finding. Errors: the client can't be created.
Result<std::map<int32_t, LogFinding>> CheckLogs(const LogCheckOptions& options,
                                                const std::map<int32_t, Anchor>& records,
                                                std::chrono::milliseconds timeout,
                                                const std::atomic<bool>& stop);

}  // namespace seen::kafka
