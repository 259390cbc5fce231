#include "tools/own_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace seen {

Result<OwnFolder> OwnFolder::Make(std::string_view option, const std::string& parent,
                                  std::string_view purpose) {
  std::error_code error;
  std::filesystem::path in = parent;
  if (in.empty()) in = std::filesystem::temp_directory_path(error);
  if (error) return Fail(Code::kUnavailable, fmt::format("{}: {}", option, error.message()));
  std::string path = (in / fmt::format("seenctl-{}-XXXXXX", purpose)).string();
  if (::mkdtemp(path.data()) == nullptr) {
    const int code = errno;
    return Fail(code == ENOSPC ? Code::kNoSpace : Code::kUnavailable,
                fmt::format("{}: can't make a folder in {}: {}. Remedy: name a folder that you can write to",
                            option, in.string(), std::strerror(code)));
  }
  return OwnFolder(std::move(path));
}

OwnFolder::~OwnFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace seen
