#pragma once
// Reads the configuration again, and applies all changes that need no restart: ConfigKey::is_live, and the
// files of access.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/command_line.h"
#include "serve/operator_ports.h"

namespace seen {

class Credentials;
class Listeners;

/// Any thread.
class Reload final : public ReloadPort {
 public:
  /// `config`: the running configuration. A reload changes its live parts (SnapshotPolicy). All references
  /// outlive this object.
  Reload(const ConfigSource& source, Config& config, Credentials& credentials, Listeners& listeners);

  /// Applies all or nothing, and logs the outcome. kInvalidArgument: the file, or a file that it names, has
  /// mistakes, one per line. Nothing has changed in this case.
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

// seend --check-config: the part that needs the machine's files.

/// Reads the files that the configuration names, as a start does. One line per mistake.
PrintCommand CheckFiles(const CheckCommand& check);

}  // namespace seen
