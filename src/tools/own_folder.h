#pragma once
// A private folder of this process for temporary files.

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace seen {

/// The destructor removes the folder with everything in it.
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

}  // namespace seen
