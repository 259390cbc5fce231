#pragma once
// Files and folders that survive a loss of power, and locks. Errors name path, reason and remedy. Codes:
// kNoSpace; kRefused if no retry mends it (no permission, another kind of file is there);
// otherwise kUnavailable. Any thread.

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace seen {

/// An open file. The destructor closes it.
class Descriptor {
 public:
  explicit Descriptor(int opened) : number_(opened) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

/// An exclusive lock (flock), or a shared one. It ends with this object or with the process.
class FileLock {
 public:
  /// Doesn't wait: kRefused while another process holds the lock. `create`: creates the file if it is
  /// missing. Without `create`, kNotFound if it is missing. `shared`: other processes may hold a shared lock,
  /// too.
  static Result<FileLock> Take(const std::string& path, bool create, bool shared);

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

/// Whether `error`, an errno, says that no more can be written: the disk, the quota, or the limit on the size
/// of the process's files (RLIMIT_FSIZE) is full.
bool IsNoSpace(int error);

/// `error`: an errno. `what`: the action that failed, as "can't read".
Error FileError(int error, std::string_view what, const std::string& path);

Status WriteAll(const Descriptor& file, const std::string& path, std::string_view bytes);
Status Sync(const Descriptor& file, const std::string& path);

/// Makes the parents, too, and syncs each parent folder. So the folder survives a loss of power.
Status MakeFolder(const std::string& path);
Status SyncFolder(const std::string& path);
/// Removes the folder completely or (after a crash) not at all: first renames it to `aside`, beside it. A
/// missing folder is no error.
Status RemoveFolder(const std::string& path, const std::string& aside);
/// Writes `text` to `path`, whole or not at all.
Status WriteDurably(const std::string& path, std::string_view text);

}  // namespace seen
