#pragma once
// Rows of one bucket of the index of items that are read together, and their values.

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "similar/store/item_index_tail.h"

namespace seen {

/// One per thread: it keeps its buffers.
struct ItemPointReads {
  std::vector<std::string> keys;
  std::vector<uint32_t> wanted;  // places in `keys`: these are read
  // By place in `keys`; nullopt also for keys that weren't wanted. Valid until the next read.
  std::vector<std::optional<std::string_view>> values;

  void Clear() {
    keys.clear();
    wanted.clear();
  }
  void WantAll() {
    wanted.resize(keys.size());
    for (uint32_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  }
  /// Releases the pinned blocks of the files.
  void LetGo() {
    for (rocksdb::PinnableSlice& value : pinned) value.Reset();
  }
  /// Releases the pinned blocks when a look-up ends, also with an error.
  struct Use {
    explicit Use(ItemPointReads& of) : reads(of) {}
    ~Use() { reads.LetGo(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ItemPointReads& reads;
  };

  // State of a read:
  std::vector<uint64_t> hashes;  // of `keys`, if presence is tested first
  std::vector<uint32_t> asked;   // read from the files: places in `keys`
  std::vector<rocksdb::Slice> slices;
  std::vector<rocksdb::PinnableSlice> pinned;
  std::vector<rocksdb::Status> read;
  std::vector<std::string> unsaved;  // by place in `keys`: the tail's value
  std::vector<ItemIndexTail::Kind> kinds;
};

}  // namespace seen
