#pragma once

#include <string>

namespace seen {
/// RocksDB's version as linked, e.g. "7.8.3".
std::string RocksVersion();
}  // namespace seen
