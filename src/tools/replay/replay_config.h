#pragma once
// Where a replay sends, and how its events are written: by the daemon's configuration and the command line.

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "tools/common_options.h"

namespace CLI {
class App;
}

namespace seen {

struct ReplayTarget {
  Config config;  // the file's, or all defaults
  std::string brokers;
  ClientSettings client;
  std::string topic;
  Partitioner partitioner = Partitioner::kMurmur2;
};

/// What the command line says goes before the configuration. `path` empty: the defaults. kInvalidArgument:
/// all mistakes of the configuration; no such file.
Result<ReplayTarget> ReadReplayTarget(const std::string& path, const KafkaOptions& options,
                                      uint64_t event_bytes_max, const CLI::App& app);

}  // namespace seen
