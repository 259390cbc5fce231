#include "store/store_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/durable_file.h"
#include "base/log.h"
#include "rocks/rocks_status.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartitionPrefix = "partition-";
// A partition to be removed is renamed first, so that a crash can't leave half a state under the partition's
// name.
constexpr std::string_view kRemovedPrefix = "removed-";

tl::unexpected<Error> FailOf(Error error) {
  error.message = "store.directory: " + error.message;
  return Fail(std::move(error));
}

tl::unexpected<Error> FailOf(const std::error_code& code, std::string_view what, const fs::path& path) {
  return FailOf(FileError(code.value(), what, path.string()));
}

std::optional<int32_t> PartitionNamed(std::string_view name) {
  if (!name.starts_with(kPartitionPrefix)) return std::nullopt;
  name.remove_prefix(kPartitionPrefix.size());
  int32_t partition = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), partition);
  if (error != std::errc{} || end != name.data() + name.size() || partition < 0) return std::nullopt;
  if (name != std::to_string(partition)) return std::nullopt;
  return partition;
}

std::string InstancePath(const std::string& directory) { return directory + "/instance"; }

std::string HolderOf(int lock) {
  char text[32] = {};
  const ssize_t length = ::pread(lock, text, sizeof text - 1, 0);
  int64_t pid = 0;
  if (length <= 0 || std::from_chars(text, text + length, pid).ec != std::errc{} || pid <= 0) {
    return "another process";
  }
  return fmt::format("process {}", pid);
}

std::error_code RemoveLeftovers(const fs::path& directory) {
  std::error_code code;
  fs::remove_all(StoreDirectory::IncomingPath(directory.string()), code);
  if (code) return code;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, code)) {
    if (!entry.path().filename().string().starts_with(kRemovedPrefix)) continue;
    std::error_code removing;
    fs::remove_all(entry.path(), removing);
    if (removing) return removing;
  }
  return code;
}

}  // namespace

std::string StoreDirectory::PartitionPath(const std::string& directory, int32_t partition) {
  return directory + "/" + std::string(kPartitionPrefix) + std::to_string(partition);
}
std::string StoreDirectory::GroupsPath(const std::string& directory) { return directory + "/groups"; }

std::string StoreDirectory::IncomingPath(const std::string& directory) { return directory + "/incoming"; }

Result<std::unique_ptr<StoreDirectory>> StoreDirectory::Open(const std::string& path) {
  if (const Status made = MakeFolder(path); !made) return FailOf(made.error());
  const std::string lock_path = path + "/LOCK";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) return FailOf(FileError(errno, "can't open", lock_path));
  std::unique_ptr<StoreDirectory> directory(new StoreDirectory(path, lock));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FailOf(FileError(errno, "can't lock", lock_path));
    return Fail(Code::kRefused,
                fmt::format("store.directory: {} is in use by {}: stop it, or give this one a "
                            "directory of its own",
                            path, HolderOf(lock)));
  }
  // Only for the message above. The lock is what counts, so a full disk may leave the text out.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, pid.data(), pid.size(), 0) < 0) {
    log::Warning("the lock of the store's directory doesn't name this process",
                 {{"path", lock_path}, {"error", std::strerror(errno)}});
  }
  if (const std::error_code code = RemoveLeftovers(path)) return FailOf(code, "can't clear", path);
  return directory;
}

Result<std::unique_ptr<StoreDirectory>> StoreDirectory::OpenStopped(const std::string& path) {
  std::error_code code;
  if (!fs::is_directory(path, code))
    return Fail(Code::kNotFound, fmt::format("{}: no such directory. Name a daemon's store.directory", path));
  const std::string lock_path = path + "/LOCK";
  const int lock = ::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (lock < 0 && errno != ENOENT) return FailOf(FileError(errno, "can't open", lock_path));
  std::unique_ptr<StoreDirectory> directory(new StoreDirectory(path, lock));
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) == 0) return directory;
  if (errno != EWOULDBLOCK) return FailOf(FileError(errno, "can't lock", lock_path));
  return Fail(Code::kRefused,
              fmt::format("{} is in use by {}: stop it, or ask it over HTTP", path, HolderOf(lock)));
}

StoreDirectory::~StoreDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

std::optional<std::string> StoreDirectory::InstanceIdIn(const std::string& path) {
  std::ifstream file(InstancePath(path));
  std::string name;
  // Kafka's limit. A longer or an empty line is no name of a daemon.
  if (!std::getline(file, name) || name.empty() || name.size() > 249) return std::nullopt;
  return name;
}

Status StoreDirectory::KeepInstanceId(std::string_view name) const {
  if (InstanceIdIn(path_) == name) return {};
  const Status kept = WriteDurably(InstancePath(path_), std::string(name) + "\n");
  return kept ? Status() : FailOf(kept.error());
}

Result<std::vector<int32_t>> StoreDirectory::PartitionsWithState() const {
  std::vector<int32_t> partitions;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, code)) {
    const auto partition = PartitionNamed(entry.path().filename().string());
    if (!partition) continue;
    // A lost disk, or a start that was cut short, leaves a folder without a database. A folder whose database
    // can't be read counts: opening it says what is wrong.
    if (!HasDatabase(*rocksdb::FileSystem::Default(), entry.path().string()).IsNotFound()) {
      partitions.push_back(*partition);
    }
  }
  if (code) return FailOf(code, "can't list", path_);
  std::sort(partitions.begin(), partitions.end());
  return partitions;
}

Status StoreDirectory::RemovePartition(int32_t partition) const {
  Status removed =
      RemoveFolder(PartitionPath(path_, partition), fmt::format("{}/{}{}", path_, kRemovedPrefix, partition));
  return removed ? removed : FailOf(removed.error());
}

}  // namespace seen
