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
/// all mistakes of the configuration; kNotFound.
Result<ReplayTarget> ReadReplayTarget(const std::string& path, const KafkaOptions& options,
                                      uint64_t event_bytes_max, const CLI::App& app);

/// kUnavailable, with the remedy: none of them answers within some seconds. `option` is where they come from.
Status ReachBrokers(std::string_view option, const std::string& brokers, const ClientSettings& client);

}  // namespace seen
