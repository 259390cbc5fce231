#pragma once
// The target of a replay and the format of its events, from the daemon's configuration and the command line.

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "tools/common_options.h"

namespace CLI {
class App;
}

namespace seen {

struct ReplayTarget {
  Config config;  // the file's, or the defaults
  std::string brokers;
  ClientSettings client;
  std::string topic;
  Partitioner partitioner = Partitioner::kMurmur2;
};

/// The command line overrides the configuration. An empty `path` gives the defaults. kInvalidArgument: all
/// mistakes of the configuration, or no such file.
Result<ReplayTarget> ReadReplayTarget(const std::string& path, const KafkaOptions& options,
                                      uint64_t event_bytes_max, const CLI::App& app);

}  // namespace seen
