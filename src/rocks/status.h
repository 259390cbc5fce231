#pragma once
// RocksDB's statuses in the project's own terms.

#include <rocksdb/status.h>

#include <string_view>

#include "base/result.h"

namespace seen {

/// No space: kNoSpace; corruption (a failed checksum, a failed merge): kCorrupt; anything else that went
/// wrong: kUnavailable. `what` says what was tried, e.g. "partition 3: checkpoint".
Error ToError(const rocksdb::Status& status, std::string_view what);

/// Adds the operator's remedy to a kCorrupt error that has none yet.
Error WithRemedy(Error error);

inline Status ToStatus(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return {};
  return Fail(ToError(status, what));
}

}  // namespace seen
