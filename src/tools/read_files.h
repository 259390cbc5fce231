#pragma once
// The files that commands read, and a private folder for temporary files.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace seen {

/// `path`: "-" is the standard input. kInvalidArgument names the path and the reason.
Result<std::string> ReadWhole(const std::string& path);

/// A private folder of this process for temporary files. The destructor removes the folder with everything in
/// it.
class OwnFolder {
 public:
  /// Makes the folder in `parent`, or in the system's folder for temporary files (TMPDIR) if `parent` is
  /// empty. kNoSpace and kUnavailable name `option`.
  static Result<OwnFolder> Make(std::string_view option, const std::string& parent, std::string_view purpose);
  OwnFolder(OwnFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  OwnFolder& operator=(OwnFolder&&) = delete;
  ~OwnFolder();

  const std::string& path() const { return path_; }

 private:
  explicit OwnFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: moved away
};

/// All mistakes of the configuration in `path`, in one line.
std::string MistakesText(const std::string& path, std::span<const ConfigError> mistakes);

/// Reads the daemon's configuration. An empty `path` gives the defaults. `brokers`, unless empty, replaces
/// kafka.brokers, and kafka.client is empty then: other brokers have their own credentials. `overrides`: as
/// for LoadConfig. kInvalidArgument: the file can't be read, or it has mistakes; the message names all of
/// them.
Result<Config> ReadConfig(const std::string& path, const std::string& brokers,
                          std::vector<std::string> overrides = {});

}  // namespace seen
