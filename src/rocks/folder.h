#pragma once
// What a folder of RocksDB holds, before it is opened.

#include <rocksdb/file_system.h>

#include <string>

namespace seen {

/// OK: a database is there. NotFound: none, and nothing of one that held anything; opening makes a new one.
/// Corruption: files of a database, but nothing that names them. RocksDB would take that for a new one too,
/// and delete them.
rocksdb::Status HasDatabase(rocksdb::FileSystem& files, const std::string& folder);

}  // namespace seen
