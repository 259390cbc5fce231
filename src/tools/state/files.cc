#include "tools/state/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/durable_file.h"

namespace seen {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr uint64_t kTailBytes = 64 << 10;

/// Passes the file from `at` on to `take`, in pieces.
template <typename Take>
Status ReadFrom(const Descriptor& file, const std::string& path, uint64_t at, Take take) {
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const ssize_t count = ::pread(file.number(), piece.data(), piece.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(FileError(errno, "can't read", path));
    if (count == 0) return {};
    if (Status taken = take(std::string_view(piece.data(), static_cast<size_t>(count))); !taken) return taken;
    at += static_cast<uint64_t>(count);
  }
}

}  // namespace

Result<BackupFile> LookAt(const std::string& path, const std::string& name) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about = {};
  if (!file.is_open() || ::fstat(file.number(), &about) != 0)
    return Fail(FileError(errno, "can't open", path));
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
  if (!file.is_open()) return Fail(FileError(errno, "can't open", path));
  (void)::posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED);
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
  if (!source.is_open()) return Fail(FileError(errno, "can't open", from));
  const Descriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!target.is_open()) return Fail(FileError(errno, "can't make", to));
  ByteHash hash;
  const Status copied = ReadFrom(source, from, 0, [&](std::string_view piece) {
    hash.Add(piece);
    return WriteAll(target, to, piece);
  });
  if (!copied) return Fail(copied.error());
  if (Status synced = Sync(target, to); !synced) return Fail(synced.error());
  return hash.Finish();
}

}  // namespace seen
