#pragma once
// Rows of one bucket of the index of items that are read together, and what came of it.

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "item_store/item_index_tail.h"

namespace seen {

/// One a thread: it keeps its buffers.
struct ItemPointReads {
  std::vector<std::string> keys;
  std::vector<uint32_t> wanted;  // places in `keys`: these are read
  // By place in `keys`; of what wasn't wanted nullopt too. Until the next reading.
  std::vector<std::optional<std::string_view>> values;

  void Clear() {
    keys.clear();
    wanted.clear();
  }
  void WantAll() {
    wanted.resize(keys.size());
    for (uint32_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  }
  /// What is pinned of the files.
  void LetGo() {
    for (rocksdb::PinnableSlice& value : pinned) value.Reset();
  }
  /// Nothing stays pinned when a look-up ends, however it does.
  struct Use {
    explicit Use(ItemPointReads& of) : reads(of) {}
    ~Use() { reads.LetGo(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ItemPointReads& reads;
  };

  // Of the reading:
  std::vector<uint64_t> hashes;  // of `keys`, where the presence is asked first
  std::vector<uint32_t> asked;   // of the files: places in `keys`
  std::vector<rocksdb::Slice> slices;
  std::vector<rocksdb::PinnableSlice> pinned;
  std::vector<rocksdb::Status> read;
  std::vector<std::string> unsaved;  // by place in `keys`, what the tail had
  std::vector<ItemIndexTail::Kind> kinds;
};

}  // namespace seen
