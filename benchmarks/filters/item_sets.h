#pragma once
// Sets of fingerprints to fill filters, and strangers that are certainly not in a set.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "filter/payload.h"
#include "filter/snapshot_format.h"
#include "filters/kinds.h"

namespace seen::bench {

/// Fingerprint `at` of set `set`. Each set is a permutation of 32 bits, so that no fingerprint occurs twice.
/// The first n fingerprints are the items of the set, all others are strangers to the set.
inline Fingerprint FingerprintAt(uint32_t set, uint32_t at) {
  uint32_t x = at + set * 0x9e3779b1U;
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return {x ^ (x >> 16)};
}

/// `count` items of set `set`. They come in no order, and also spread over kDays days and sorted within each
/// day, as the store has them.
class ItemSet {
 public:
  static constexpr size_t kDays = 30;
  ItemSet(uint32_t set, size_t count);
  ItemSet(ItemSet&&) = default;  // days_ point into memory that a move keeps
  const std::vector<Fingerprint>& fingerprints() const { return fingerprints_; }
  SnapshotItems items() const { return {fingerprints_, days_}; }

 private:
  std::vector<Fingerprint> fingerprints_, by_day_;
  std::vector<DayOfItems> days_;
};

/// A payload and its view. The payload starts at a cache line, in memory of exactly its size.
class Filter {
 public:
  static constexpr size_t kLineBytes = 64;
  /// Ends the program if the payload is refused.
  Filter(const SnapshotShape& shape, std::string_view payload);
  std::string_view payload() const { return {bytes_.get(), size_}; }
  void Ask(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  struct Free {
    void operator()(char* bytes) const { ::operator delete (bytes, std::align_val_t{kLineBytes}); }
  };
  std::unique_ptr<char, Free> bytes_;
  size_t size_;
  std::unique_ptr<AnyView> view_;
};

std::string Rendered(const SnapshotShape& shape, const ItemSet& set);

/// The number of candidates in one call.
inline constexpr size_t kBatch = 2'000;

}  // namespace seen::bench
