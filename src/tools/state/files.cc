#include "tools/state/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

namespace seen {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = 1 << 20;
constexpr uint64_t kTailBytes = 64 << 10;

tl::unexpected<Error> FailOf(int error, std::string_view what, const std::string& path) {
  const std::error_code code(error, std::generic_category());
  if (error == ENOSPC || error == EDQUOT) {
    return Fail(Code::kNoSpace, fmt::format("{} {}: {}. Remedy: make room there, and run it again", what,
                                            path, code.message()));
  }
  const bool forbidden = error == EACCES || error == EPERM || error == EROFS;
  if (forbidden) {
    return Fail(Code::kRefused,
                fmt::format("{} {}: {}. Remedy: let user id {} do that, or run it as another user", what,
                            path, code.message(), ::geteuid()));
  }
  return Fail(Code::kUnavailable, fmt::format("{} {}: {}", what, path, code.message()));
}

/// Closed at the end.
struct Descriptor {
  int number = -1;
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

/// Gives `take` all of the file from `at` on, in pieces.
template <typename Take>
Status ReadFrom(const Descriptor& file, const std::string& path, uint64_t at, Take take) {
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const ssize_t count = ::pread(file.number, piece.data(), piece.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FailOf(errno, "can't read", path);
    if (count == 0) return {};
    if (Status taken = take(std::string_view(piece.data(), static_cast<size_t>(count))); !taken) return taken;
    at += static_cast<uint64_t>(count);
  }
}

Status WriteTo(const Descriptor& file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.number, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FailOf(errno, "can't write", path);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

Status Sync(const Descriptor& file, const std::string& path) {
  if (::fsync(file.number) != 0) return FailOf(errno, "can't sync", path);
  return {};
}

}  // namespace

Result<FileLock> FileLock::Take(const std::string& path, bool create, bool shared) {
  const int flags = create ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC;
  FileLock lock(::open(path.c_str(), flags, 0644));
  if (lock.descriptor_ < 0) {
    if (errno == ENOENT) return Fail(Code::kNotFound, path + ": there is no such file");
    return FailOf(errno, "can't open", path);
  }
  if (::flock(lock.descriptor_, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return FailOf(errno, "can't lock", path);
  return Fail(Code::kRefused,
              path + " is locked: another process uses it. Remedy: wait until that one has ended");
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status MakeFolder(const std::string& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return {};
  const fs::path parent = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (Status made = parent == path ? Status() : MakeFolder(parent.string()); !made) return made;
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return FailOf(errno, "can't make", path);
  return SyncFolder(parent.string());
}

Status SyncFolder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.number < 0) return FailOf(errno, "can't open", path);
  return Sync(folder, path);
}

Status WriteDurably(const std::string& path, std::string_view text) {
  const std::string unfinished = path + ".tmp";
  {
    const Descriptor file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file.number < 0) return FailOf(errno, "can't make", unfinished);
    if (Status written = WriteTo(file, unfinished, text); !written) return written;
    if (Status synced = Sync(file, unfinished); !synced) return synced;
  }
  if (::rename(unfinished.c_str(), path.c_str()) != 0) return FailOf(errno, "can't rename to", path);
  return SyncFolder(fs::path(path).parent_path().string());
}

Result<BackupFile> LookAt(const std::string& path, const std::string& name) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about = {};
  if (file.number < 0 || ::fstat(file.number, &about) != 0) return FailOf(errno, "can't open", path);
  BackupFile found;
  found.name = name;
  found.bytes = static_cast<uint64_t>(about.st_size);
  ByteHash tail;
  const Status read = ReadFrom(file, path, found.bytes - std::min(found.bytes, kTailBytes),
                               [&](std::string_view piece) -> Status {
                                 tail.Add(piece);
                                 return {};
                               });
  if (!read) return Fail(read.error());
  found.tail = tail.Finish();
  return found;
}

Result<Hash128> HashOfFile(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) return FailOf(errno, "can't open", path);
  (void)::posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED);
  ByteHash hash;
  const Status read = ReadFrom(file, path, 0, [&](std::string_view piece) -> Status {
    hash.Add(piece);
    return {};
  });
  if (!read) return Fail(read.error());
  return hash.Finish();
}

Result<Hash128> LinkOrCopy(const std::string& from, const std::string& to, bool may_link) {
  if (may_link && ::link(from.c_str(), to.c_str()) == 0) return HashOfFile(from);
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (source.number < 0) return FailOf(errno, "can't open", from);
  const Descriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (target.number < 0) return FailOf(errno, "can't make", to);
  ByteHash hash;
  const Status copied = ReadFrom(source, from, 0, [&](std::string_view piece) {
    hash.Add(piece);
    return WriteTo(target, to, piece);
  });
  if (!copied) return Fail(copied.error());
  if (Status synced = Sync(target, to); !synced) return Fail(synced.error());
  return hash.Finish();
}

}  // namespace seen
