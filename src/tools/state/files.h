#pragma once
// Files as backups need them: compared, linked, copied. Errors as in base/durable_file.h.

#include <string>

#include "base/result.h"
#include "tools/state/backup_manifest.h"

namespace seen {

/// What a file is known by before it is read whole: its size, and a hash of its last 64 KiB. Of an SST file
/// these hold its properties, and so the session that wrote it and its number there: no two files share them.
Result<BackupFile> LookAt(const std::string& path, const std::string& name);

/// From the disk where possible, not from memory.
Result<Hash128> HashOfFile(const std::string& path);

/// Makes `to` a link to `from` where `may_link` and the file system allow that, else a durable copy. Returns
/// the hash of what was read of `from`. `to` isn't there yet.
Result<Hash128> LinkOrCopy(const std::string& from, const std::string& to, bool may_link);

}  // namespace seen
