#include "base/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace seen {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

bool IsNoSpace(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

Error FileError(int error, std::string_view what, const std::string& path) {
  const std::string reason = std::error_code(error, std::generic_category()).message();
  if (IsNoSpace(error)) {
    const std::string_view remedy =
        error == EFBIG ? "raise the limit on the size of files (ulimit -f; LimitFSIZE of systemd)"
                       : "free space there";
    return {Code::kNoSpace, fmt::format("{} {}: {}. Remedy: {}", what, path, reason, remedy)};
  }
  if (error == ENOTDIR || error == EISDIR || error == EEXIST)
    return {Code::kRefused, fmt::format("{} {}: {}. Remedy: name another path", what, path, reason)};
  if (error == EACCES || error == EPERM || error == EROFS) {
    return {Code::kRefused, fmt::format("{} {}: {}. Remedy: give user id {} this permission, run the program "
                                        "as another user, or name another path",
                                        what, path, reason, ::geteuid())};
  }
  return {Code::kUnavailable, fmt::format("{} {}: {}", what, path, reason)};
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Result<FileLock> FileLock::Take(const std::string& path, bool create, bool shared) {
  const int flags = create ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), flags, 0644));
  if (!file.is_open()) {
    if (errno == ENOENT) return Fail(Code::kNotFound, path + ": there is no such file");
    return Fail(FileError(errno, "can't open", path));
  }
  if (::flock(file.number(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return FileLock(std::move(file));
  if (errno != EWOULDBLOCK) return Fail(FileError(errno, "can't lock", path));
  return Fail(Code::kRefused,
              path + " is locked: another process uses it. Remedy: wait until that process has ended");
}

Status WriteAll(const Descriptor& file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(FileError(errno, "can't write", path));
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

Status Sync(const Descriptor& file, const std::string& path) {
  if (::fsync(file.number()) != 0) return Fail(FileError(errno, "can't sync", path));
  return {};
}

Status MakeFolder(const std::string& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return {};
  const std::string parent = FolderOf(path);
  if (Status made = parent == path ? Status() : MakeFolder(parent); !made) return made;
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return Fail(FileError(errno, "can't create", path));
  return SyncFolder(parent);
}

Status SyncFolder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return Fail(FileError(errno, "can't open", path));
  return Sync(folder, path);
}

Status RemoveFolder(const std::string& path, const std::string& aside) {
  std::error_code code;
  fs::remove_all(aside, code);
  if (code) return Fail(FileError(code.value(), "can't remove", aside));
  if (std::rename(path.c_str(), aside.c_str()) != 0)
    return errno == ENOENT ? Status() : Fail(FileError(errno, "can't rename", path));
  if (Status synced = SyncFolder(FolderOf(path)); !synced) return synced;
  fs::remove_all(aside, code);
  return code ? Fail(FileError(code.value(), "can't remove", aside)) : Status();
}

Status WriteDurably(const std::string& path, std::string_view text) {
  const std::string unfinished = path + ".tmp";
  {
    const Descriptor file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file.is_open()) return Fail(FileError(errno, "can't create", unfinished));
    if (Status written = WriteAll(file, unfinished, text); !written) return written;
    if (Status synced = Sync(file, unfinished); !synced) return synced;
  }
  if (std::rename(unfinished.c_str(), path.c_str()) != 0)
    return Fail(FileError(errno, "can't rename to", path));
  return SyncFolder(FolderOf(path));
}

}  // namespace seen
