#pragma once
// seend's command line, and the configuration it leads to.

#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "config/config.h"

namespace seen {

/// What --version adds; the rooms that know are asked by the caller.
struct ProgramVersions {
  std::string seend;
  std::string librdkafka;
  std::string rocksdb;
};

/// Where a configuration comes from, so that it can be read again.
struct ConfigSource {
  std::string path;                    // empty: there is no file
  std::vector<std::string> overrides;  // of --set
  bool embedded_kafka = false;
};

/// The error: a line for each mistake, `config.json: filters[0].window_dys: unknown key; …`.
tl::expected<Config, std::string> ReadConfig(const ConfigSource& source);

/// Run the daemon.
struct RunCommand {
  Config config;
  ConfigSource source;
  bool embedded_kafka = false;      // start a broker of our own and use it instead of kafka.brokers
  bool rebuild = false;             // read partitions without local state from the earliest
  bool publish_incomplete = false;  // publish incomplete state as it is
  bool share_topics = false;        // start although another group publishes into the same topics
};

/// Print and leave.
struct PrintCommand {
  int exit_status = 0;
  std::string out;    // to standard output
  std::string error;  // to standard error
};

using Command = std::variant<RunCommand, PrintCommand>;

/// The status of a mistake in the command line or the configuration.
inline constexpr int kExitConfiguration = 2;

/// Reads the configuration file. A mistake is a PrintCommand with kExitConfiguration and a line for each:
/// `config.json: filters[0].window_dys: unknown key; did you mean "window_days"?`
Command ParseCommandLine(int argc, const char* const* argv, const ProgramVersions& versions);

}  // namespace seen
