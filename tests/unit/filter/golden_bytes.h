#pragma once
// Envelopes and payloads written from schemas/snapshot.md as plainly as possible, bytes with single changes,
// and pieces of the golden JSON files. Payloads may have what the daemon never writes: evicted entries,
// numbers that wrap, runs in another order, fields at the ends of their ranges.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/bits.h"
#include "filter/snapshot.h"
#include "model/day.h"
#include "model/hashes.h"

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
SnapshotMeta UsualMeta(SnapshotFormat format, size_t item_count = 0, double rate = 0.01);

/// Fills each byte from its least significant bit on.
class BitString {
 public:
  void Append(uint64_t value, uint32_t width) {
    for (uint32_t i = 0; i < width; ++i, ++bits_) {
      if (bits_ % 8 == 0) bytes_ += '\0';
      if ((value >> i & 1) != 0)
        bytes_.back() = static_cast<char>(static_cast<uint8_t>(bytes_.back()) | 1 << (bits_ % 8));
    }
  }
  /// Fills the rest of the last byte with ones.
  void Pad() {
    while (bits_ % 8 != 0) Append(1, 1);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  size_t bits_ = 0;
};

enum class Padding { kZeros, kOnes };

/// Kind 4. An item with a count of 0 was removed: its cell keeps the remainder.
struct CountedItem {
  Fingerprint fingerprint;
  uint32_t count;
};
struct DLeftShape {
  uint32_t remainder_bits, cells, buckets;
};
std::string DLeftPayload(const DLeftShape& shape, std::span<const CountedItem> items,
                         Padding padding = Padding::kZeros);

/// Kind 5. The remainders of a run ascend or descend. `ghosts` aren't in: the remainder of each stands in the
/// slot before its quotient's, if that slot belongs to no run.
enum class RunOrder { kAscending, kDescending };
std::string QuotientPayload(uint32_t remainder_bits, uint32_t quotients, std::span<const Fingerprint> items,
                            RunOrder order, Padding padding = Padding::kZeros,
                            std::span<const Fingerprint> ghosts = {});

/// Kind 6. No entry is moved to make room: there must be room (Check).
std::string CuckooPayload(uint32_t entry_bits, uint32_t buckets, std::span<const Fingerprint> items,
                          Padding padding = Padding::kZeros);

/// Kind 7. Room as in kind 6. The number of the last item is `next` - 1. All items keep their places, also
/// those that `capacity` has evicted.
struct IndexedRow {
  Day day;
  uint32_t first_number;
};
struct IndexedShape {
  uint32_t entry_bits, number_bits, buckets, next, capacity;
  std::vector<IndexedRow> rows;
};
std::string IndexedPayload(const IndexedShape& shape, std::span<const Fingerprint> by_number,
                           Padding padding = Padding::kZeros);

/// Kind 10.
struct ChainRow {
  Day day;
  uint32_t first_second, last_second, blocks;
  std::vector<Fingerprint> items;
};
std::string ChainPayload(std::span<const ChainRow> rows);

/// Kind 11. `values` ascend.
std::string FingerprintsPayload(uint32_t k, std::span<const Fingerprint> values);

std::vector<Fingerprint> PrintsOf(std::span<const std::string> ids);

/// The text of each of `all`, with `between` them.
template <typename All, typename TextOf>
std::string Joined(const All& all, std::string_view between, TextOf text_of) {
  std::string text;
  for (const auto& one : all) text.append(text.empty() ? "" : between).append(text_of(one));
  return text;
}

/// A JSON string; of UTF-8.
std::string Quoted(std::string_view text);
std::string List(const std::vector<std::string>& ids);

/// schemas/snapshot.md, "How many to recall". `also_seen`: how many ids the snapshot doesn't hold.
uint64_t RecallSize(const SnapshotMeta& meta, int64_t want, uint64_t also_seen);

}  // namespace seen::golden
