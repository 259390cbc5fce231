#pragma once
// Reads the configuration again and applies what can change while the daemon runs: ConfigKey::is_live, and
// the files of access.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/command_line.h"
#include "serve/reload_port.h"

namespace seen {

class Credentials;
class Listeners;

/// Any thread.
class Reload final : public ReloadPort {
 public:
  /// `config`: that runs; its live parts (SnapshotPolicy) are changed. All references outlive this.
  Reload(const ConfigSource& source, Config& config, Credentials& credentials, Listeners& listeners);

  /// All or nothing. kInvalidArgument: the file, or one of those that it names, has mistakes; a line each.
  /// Nothing has changed then. Logged.
  Result<ReloadReport> Run() override;

 private:
  Result<ReloadReport> TryRun() REQUIRES(mutex_);
  void Apply(const Config& read, const std::string& path) REQUIRES(mutex_);

  const ConfigSource& source_;
  Config& config_;
  Credentials& credentials_;
  Listeners& listeners_;
  Mutex mutex_;
  nlohmann::ordered_json running_ GUARDED_BY(mutex_);
};

}  // namespace seen
