#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/status.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

// RocksDB's statuses in the project's own terms.

/// Whether the disk, the quota or the limit on the size of files is full.
bool IsNoSpace(const rocksdb::Status& status);

/// No space: kNoSpace; corruption (a failed checksum, a failed merge): kCorrupt; anything else that went
/// wrong: kUnavailable. `what` says what was tried, e.g. "partition 3: checkpoint".
Error ToError(const rocksdb::Status& status, std::string_view what);

/// Adds the operator's remedy to a kCorrupt error that has none yet.
Error WithRemedy(Error error);

inline Status ToStatus(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return {};
  return Fail(ToError(status, what));
}

// What a folder of RocksDB holds, before it is opened.

/// OK: the folder holds a database. NotFound: it holds no database and no data file of one; opening creates a
/// new one. Corruption: it holds data files, but no file that names them. RocksDB would treat such a folder
/// as a new database and delete the data files.
rocksdb::Status HasDatabase(rocksdb::FileSystem& files, const std::string& folder);

/// RocksDB's version as linked, e.g. "7.8.3".
std::string RocksVersion();

}  // namespace seen
