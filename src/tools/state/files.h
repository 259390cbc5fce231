#pragma once
// Files and folders as backups need them: durable, locked, compared. Errors name path and reason; kNoSpace,
// kRefused where this process may not write, else kUnavailable.

#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/state/backup_manifest.h"

namespace seen {

/// An exclusive lock (flock) that ends with this, or with the process.
class FileLock {
 public:
  /// Waits for nobody. kRefused while another process holds it. `create`: makes the file where missing.
  /// `shared`: others may hold it so, too.
  static Result<FileLock> Take(const std::string& path, bool create, bool shared);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

/// With what it takes to be there after a loss of power.
Status MakeFolder(const std::string& path);
Status SyncFolder(const std::string& path);
/// Puts `text` into `path` whole or not at all.
Status WriteDurably(const std::string& path, std::string_view text);

/// What a file is known by before it is read whole: its size, and a hash of its last 64 KiB. Of an SST file
/// these hold its properties, and so the session that wrote it and its number there: no two files share them.
Result<BackupFile> LookAt(const std::string& path, const std::string& name);

/// From the disk where possible, not from memory.
Result<Hash128> HashOfFile(const std::string& path);

/// Makes `to` a link to `from` where `may_link` and the file system allow that, else a durable copy. Returns
/// the hash of what was read of `from`. `to` isn't there yet.
Result<Hash128> LinkOrCopy(const std::string& from, const std::string& to, bool may_link);

}  // namespace seen
