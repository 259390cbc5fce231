#include "rocks/rocks_status.h"

#include <fmt/format.h>
#include <rocksdb/version.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace seen {

Error WithRemedy(Error error) {
  constexpr std::string_view kRemedy = "Remedy: ";
  if (error.code == Code::kCorrupt && error.message.find(kRemedy) == std::string::npos) {
    error.message += fmt::format(". {}check the disk, then start with --rebuild", kRemedy);
  }
  return error;
}

// RocksDB knows ENOSPC alone. It reports the other errors by their text.
bool IsNoSpace(const rocksdb::Status& status) {
  if (status.IsNoSpace()) return true;
  if (!status.IsIOError()) return false;
  const std::string text = status.ToString();
  return text.find(std::strerror(EFBIG)) != std::string::npos ||
         text.find(std::strerror(EDQUOT)) != std::string::npos;
}

Error ToError(const rocksdb::Status& status, std::string_view what) {
  if (IsNoSpace(status)) {
    return {Code::kNoSpace,
            fmt::format("{}: no space left on the disk of store.directory: {}", what, status.ToString())};
  }
  if (status.IsCorruption()) {
    return WithRemedy({Code::kCorrupt, fmt::format("{}: {}", what, status.ToString())});
  }
  return {Code::kUnavailable, fmt::format("{}: {}", what, status.ToString())};
}

rocksdb::Status HasDatabase(rocksdb::FileSystem& files, const std::string& folder) {
  rocksdb::Status current = files.FileExists(folder + "/CURRENT", rocksdb::IOOptions(), nullptr);
  if (!current.IsNotFound()) return current;
  std::vector<std::string> names;
  rocksdb::Status listed = files.GetChildren(folder, rocksdb::IOOptions(), &names, nullptr);
  if (listed.IsNotFound() || listed.IsPathNotFound()) return rocksdb::Status::NotFound(folder);
  if (!listed.ok()) return listed;
  for (const std::string_view name : names) {
    if (name.ends_with(".sst")) {
      return rocksdb::Status::Corruption("CURRENT is missing", "but there is " + std::string(name));
    }
  }
  return rocksdb::Status::NotFound(folder);
}

std::string RocksVersion() { return rocksdb::GetRocksVersionAsString(true); }

}  // namespace seen
