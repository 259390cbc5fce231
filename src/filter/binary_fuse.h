#pragma once
// A binary fuse filter: an item has three entries, close together, whose xor is the item's value. It is the
// smallest kind for its rate, 2^-8 or 2^-16: about 1.13 entries an item in large sets, 1.2 to 1.4 in small
// ones. It is built from the whole set: nothing can be inserted, removed or merged later. Bytes:
// schemas/snapshot.md, "8 and 9: binary fuse filters". Source: Graf and Lemire 2022, "Binary Fuse Filters:
// Fast and Smaller Than Xor Filters", section 3 and algorithm 1.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/bits.h"
#include "model/hashes.h"

namespace seen {

/// How the places are arranged: `segments` + 2 segments of 2^length_log2 entries.
struct BinaryFuseShape {
  uint32_t segments = 0;  // 0: the filter is empty
  uint32_t length_log2 = 0;

  uint64_t Entries() const { return segments == 0 ? 0 : (uint64_t{segments} + 2) << length_log2; }
  uint64_t Starts() const { return uint64_t{segments} << length_log2; }
};

/// The shapes that a binary fuse filter tries, beginning with the smallest that has a fair chance.
/// One shape after another for `count` (> 0) items, each with the number of seeds to try. They grow without
/// end: large ones by at least one segment, small ones by at least one entry.
class BinaryFuseShapes {
 public:
  explicit BinaryFuseShapes(size_t count);
  BinaryFuseShape shape() const { return shape_; }
  uint32_t seeds() const { return seeds_; }  // 1 to 256
  void Next();

 private:
  void TakeSmall(uint64_t entries);

  size_t count_;
  uint32_t seeds_;
  BinaryFuseShape shape_;
};

/// An item's hash for one of the 256 seeds, and its three places.
struct BinaryFusePlaces {
  uint64_t x;
  uint32_t first, second, third;

  BinaryFusePlaces(uint64_t hash, uint8_t seed_number, BinaryFuseShape shape)
      : BinaryFusePlaces(Mix(hash, seed_number), shape) {}
  BinaryFusePlaces(uint64_t mixed, BinaryFuseShape shape) : x(mixed) {
    const uint32_t length = uint32_t{1} << shape.length_log2;
    first = Range(UpperHalf(x), static_cast<uint32_t>(shape.Starts()));
    second = (first + length) ^ (static_cast<uint32_t>(x >> 18) & (length - 1));
    third = (first + 2 * length) ^ (static_cast<uint32_t>(x) & (length - 1));
  }
  static uint64_t Mix(uint64_t hash, uint8_t seed_number) {
    uint64_t x = hash + seed_number * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdU;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53U;
    return x ^ (x >> 33);
  }
  uint64_t Entry() const { return x ^ (x >> 32); }  // the entry is its low bits
};

/// Points into a payload of entries of type `Entry`, uint8_t (kind 8) or uint16_t (kind 9). Any thread. A
/// look-up costs three loads, mostly from different cache lines.
template <typename Entry>
class BinaryFuseView {
 public:
  /// kMalformed: a field out of range, or a length other than the fields say.
  static Result<BinaryFuseView> Parse(std::string_view payload);
  /// False: certainly not in.
  bool MightContain(Fingerprint fingerprint) const {
    return shape_.segments != 0 && Test(HashOf(fingerprint));
  }
  /// `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  BinaryFuseView() = default;
  bool Test(uint64_t hash) const {
    const BinaryFusePlaces places(hash, seed_number_, shape_);
    return static_cast<Entry>(places.Entry() ^ At(places.first) ^ At(places.second) ^ At(places.third)) == 0;
  }
  Entry At(uint32_t place) const { return GetInteger<Entry>(entries_, size_t{place} * sizeof(Entry)); }

  std::string_view entries_;
  BinaryFuseShape shape_;
  uint8_t seed_number_ = 0;
};

template <typename Entry>
class BinaryFuse {
 public:
  /// The filter's rate, whatever rate is asked. To ask for a lower rate is a mistake (Check), and so is a
  /// repeated fingerprint.
  static constexpr double kRate = 1.0 / (uint64_t{1} << (8 * sizeof(Entry)));

  static constexpr bool kSizesExactly = false;  // a set that fits none of the first shapes takes a larger one
  /// For `count` items, up to 2^26.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order: the same bytes for the same set. Never fails.
  /// Takes mostly below 20 microseconds for up to 250 items, then 30 to 90 ns an item. Needs 60 bytes of
  /// memory an item meanwhile.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
};

using BinaryFuse8View = BinaryFuseView<uint8_t>;
using BinaryFuse16View = BinaryFuseView<uint16_t>;
using BinaryFuse8 = BinaryFuse<uint8_t>;
using BinaryFuse16 = BinaryFuse<uint16_t>;

}  // namespace seen
