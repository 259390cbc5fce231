#pragma once
// What a folder of RocksDB holds, before it is opened.

#include <rocksdb/file_system.h>

#include <string>

namespace seen {

/// OK: the folder holds a database. NotFound: it holds no database and no data file of one; opening creates a
/// new one. Corruption: it holds data files, but no file that names them. RocksDB would treat such a folder
/// as a new database and delete the data files.
rocksdb::Status HasDatabase(rocksdb::FileSystem& files, const std::string& folder);

}  // namespace seen
