#pragma once
// File operations for backups: identify, link, copy. Errors: as in base/durable_file.h.

#include <string>

#include "base/result.h"
#include "tools/state/backup_manifest.h"

namespace seen {

/// Identifies a file without reading all of it: by its size and a hash of its last 64 KiB. In an SST file
/// they hold the session that wrote the file, and its number there. So no two SST files share them.
Result<BackupFile> LookAt(const std::string& path, const std::string& name);

/// Reads from the disk if possible, not from memory.
Result<Hash128> HashOfFile(const std::string& path);

/// Makes `to` a link to `from` if `may_link` and the file system allow it, otherwise a durable copy. Returns
/// the hash of the bytes read from `from`. `to` must not exist.
Result<Hash128> LinkOrCopy(const std::string& from, const std::string& to, bool may_link);

}  // namespace seen
