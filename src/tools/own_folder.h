#pragma once
// A folder of this process's own for files that nobody needs afterwards.

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace seen {

/// Gone, with all that is in it, when this goes.
class OwnFolder {
 public:
  /// In `parent`; empty: where the system has such files (TMPDIR). kUnavailable names `option`.
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
