#pragma once
// Envelopes written by hand, bytes with single changes (schemas/snapshot.md, "Bytes"), and pieces of the
// golden JSON files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "filter/bits.h"
#include "filter/snapshot.h"

namespace seen::golden {

/// Little-endian fields, one after another.
class Fields {
 public:
  Fields& U8(uint64_t value) { return Put(value, 1); }
  Fields& U16(uint64_t value) { return Put(value, 2); }
  Fields& U32(uint64_t value) { return Put(value, 4); }
  Fields& U64(uint64_t value) { return Put(value, 8); }
  Fields& Add(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  Fields& Zeros(size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  operator std::string() const { return bytes_; }  // NOLINT: implicit

 private:
  Fields& Put(uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string bytes_;
};

/// The same bytes with the right checksum.
std::string Sealed(std::string bytes);

template <typename T>
std::string Changed(std::string bytes, size_t at, T value) {
  PutInteger(std::span(bytes), at, value);
  return bytes;
}

template <typename T>
std::string Patched(std::string bytes, size_t at, T value) {
  return Sealed(Changed(std::move(bytes), at, value));
}

/// The header of `meta`, `more_header` behind its 56 bytes, and the payload. `meta.complete_since` is left
/// out.
std::string Enveloped(const SnapshotMeta& meta, std::string_view payload, std::string_view more_header = {});

struct SecondFilter {
  SnapshotFormat format = SnapshotFormat::kSplitBlockBloom;
  uint32_t count = 0;
  std::string payload;
};
/// The same with a second filter, of what is similar. `reserved` fills the fields that readers ignore.
std::string Enveloped(const SnapshotMeta& meta, std::string_view payload, const SecondFilter& similar,
                      uint8_t reserved = 0);

/// Metadata for files in which the metadata doesn't matter.
SnapshotMeta UsualMeta(SnapshotFormat format, size_t item_count = 0);

/// A JSON string; of UTF-8.
std::string Quoted(std::string_view text);
std::string List(const std::vector<std::string>& ids);

/// schemas/snapshot.md, "How many to recall". `also_seen`: how many ids the snapshot doesn't hold.
uint64_t RecallSize(const SnapshotMeta& meta, int64_t want, uint64_t also_seen);

}  // namespace seen::golden
