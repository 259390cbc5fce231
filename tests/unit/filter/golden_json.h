#pragma once
// How the golden JSON files are written.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/snapshot.h"

namespace seen::golden {

/// A JSON string; of UTF-8.
std::string Quoted(std::string_view text);
std::string List(const std::vector<std::string>& ids);

/// schemas/snapshot.md, "How many to recall". `also_seen`: how many ids the snapshot doesn't hold.
uint64_t RecallSize(const SnapshotMeta& meta, int64_t want, uint64_t also_seen);

}  // namespace seen::golden
