#pragma once
// seend's command line, and the configuration that it selects.

#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "config/config.h"

namespace seen {

/// The versions that --version prints. The caller collects them from the rooms that know.
struct ProgramVersions {
  std::string seend;
  std::string librdkafka;
  std::string rocksdb;
};

/// Says where a configuration comes from, so that the daemon can read it again.
struct ConfigSource {
  std::string path;                    // empty: there is no file
  std::vector<std::string> overrides;  // from --set
  bool embedded_kafka = false;
};

/// The error has one line per mistake: `config.json: filters[0].window_dys: unknown key; …`.
tl::expected<Config, std::string> ReadConfig(const ConfigSource& source);

/// Run the daemon.
struct RunCommand {
  Config config;
  ConfigSource source;
  bool embedded_kafka = false;      // start a broker in this process and use it instead of kafka.brokers
  bool rebuild = false;             // read partitions without local state from the earliest record
  bool publish_incomplete = false;  // publish incomplete state as it is
  bool share_topics = false;        // start although another group publishes into the same topics
};

/// Print and exit.
struct PrintCommand {
  int exit_status = 0;
  std::string out;    // to standard output
  std::string error;  // to standard error
};

/// Check the files that a configuration without mistakes names.
struct CheckCommand {
  Config config;
  std::string name;  // for people
};

using Command = std::variant<RunCommand, CheckCommand, PrintCommand>;

/// The exit status for a mistake in the command line or the configuration.
inline constexpr int kExitConfiguration = 2;

/// Reads the configuration file. On mistakes, returns a PrintCommand with kExitConfiguration and one line per
/// mistake: `config.json: filters[0].window_dys: unknown key; did you mean "window_days"?`
Command ParseCommandLine(int argc, const char* const* argv, const ProgramVersions& versions);

}  // namespace seen
