#include "rocks/version.h"

#include <rocksdb/version.h>

namespace seen {

std::string RocksVersion() { return rocksdb::GetRocksVersionAsString(true); }

}  // namespace seen
