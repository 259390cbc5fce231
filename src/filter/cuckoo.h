#pragma once
// A cuckoo filter: buckets of four short entries. An item's entry is in one of two buckets. An item takes
// about log2(1 / rate) + 3.5 bits. Bytes: schemas/snapshot.md, "6: cuckoo filter". Source: Fan, Andersen,
// Kaminsky, Mitzenmacher 2014, "Cuckoo Filter: Practically Better Than Bloom", algorithms 1 to 3.
//
// The places that an item may have: section 3 of the paper. There the entry determines the xor of an item's
// two buckets. Here it determines their sum, which works with any number of buckets.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "filter/bits.h"
#include "model/hashes.h"

namespace seen {

inline constexpr uint32_t kCuckooBucketPlaces = 4;

struct CuckooShape {
  uint32_t entry_bits = 2;  // 2 to 32
  uint32_t buckets = 1;

  uint64_t Places() const { return uint64_t{buckets} * kCuckooBucketPlaces; }
  uint32_t EntryOf(uint64_t hash) const { return Range(LowerHalf(hash), LowBits(entry_bits)) + 1; }
  uint32_t FirstOf(uint64_t hash) const { return Range(UpperHalf(hash), buckets); }
  /// The other bucket of an entry that may be in `bucket`; it may be the same.
  uint32_t Other(uint32_t bucket, uint32_t entry) const {
    const uint32_t sum = Range(entry * 0x9e3779b1u, buckets);
    return sum - bucket + (sum < bucket ? buckets : 0);
  }
  friend bool operator==(const CuckooShape&, const CuckooShape&) = default;
};

// The size of a cuckoo filter: schemas/snapshot.md, "Sizing".

inline constexpr size_t kCuckooCountMax = size_t{1} << 26;

/// The share of unseen fingerprints for which a filter of `count` items answers "seen".
double CuckooRate(size_t count, CuckooShape shape);

/// The shape with the fewest bits that has at least `buckets_min` buckets and a CuckooRate of at most `rate`.
/// `rate` is in (0, kRateMax] (Check). Each place has `more_bits` besides its entry. About 0.5 microseconds.
CuckooShape CuckooShapeFor(size_t count, double rate, uint32_t buckets_min, uint32_t more_bits);

/// The number of buckets to try first for a set that is known as a whole: most sets fit.
uint32_t TightCuckooBuckets(size_t count);
/// The number to try after `buckets` were too few.
uint32_t MoreCuckooBuckets(uint32_t buckets);

/// Buckets of four fields of `width` bits. The low `entry_bits` of a field are an entry. Reads no byte
/// outside.
class PackedBuckets {
 public:
  PackedBuckets() = default;
  /// `bytes`: at least one bucket. `width`: entry_bits to 64.
  PackedBuckets(std::string_view bytes, uint32_t entry_bits, uint32_t width)
      : bytes_(bytes), width_(width), entry_mask_(LowBits(entry_bits)), lanes_(LanesOf(width)) {
    for (uint32_t i = 0; i < lanes_; ++i) ones_ |= uint64_t{1} << (i * width);
    highs_ = ones_ << (width - 1);
    masks_ = ones_ * entry_mask_;
    if (bytes.size() < sizeof(short_)) {
      for (size_t i = 0; i < bytes.size(); ++i) short_ |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
  }

  /// The number of fields that one load reads: 4, 2 or 1.
  uint32_t lanes() const { return lanes_; }
  /// Whether one of the four places of `bucket` has `entry`. `kLanes` is lanes().
  template <uint32_t kLanes>
  bool Has(uint32_t bucket, uint32_t entry) const {
    const uint64_t at = uint64_t{bucket} * kCuckooBucketPlaces * width_;
    if constexpr (kLanes == 4) return HasInWord(at, entry);
    if constexpr (kLanes == 2) return HasInWord(at, entry) | HasInWord(at + 2 * uint64_t{width_}, entry);
    for (uint32_t i = 0; i < kCuckooBucketPlaces; ++i) {
      if (Bits(at + i * uint64_t{width_}, entry_mask_) == entry) return true;
    }
    return false;
  }
  /// Calls `call` with lanes() as a std::integral_constant.
  template <typename Call>
  auto WithLanes(Call call) const {
    if (lanes_ == 4) return call(std::integral_constant<uint32_t, 4>());
    if (lanes_ == 2) return call(std::integral_constant<uint32_t, 2>());
    return call(std::integral_constant<uint32_t, 1>());
  }
  /// Whether `bucket` or `other` has `entry`.
  bool EitherHas(uint32_t bucket, uint32_t other, uint32_t entry) const {
    return WithLanes([&](auto lanes) { return Has<lanes>(bucket, entry) | Has<lanes>(other, entry); });
  }
  uint32_t Entry(uint64_t place) const { return Bits(place * width_, entry_mask_); }
  /// The bits of a field above its entry.
  uint32_t Rest(uint64_t place, uint32_t entry_bits) const {
    return Bits(place * width_ + entry_bits, LowBits(width_ - entry_bits));
  }

 private:
  // The number of fields that fit into 57 bits: each load reads at least 57.
  static uint32_t LanesOf(uint32_t width) { return width <= 14 ? 4 : width <= 28 ? 2 : 1; }
  // The bits from `at` on; zeros after the last byte.
  uint64_t Word(uint64_t at) const {
    if (bytes_.size() < sizeof(short_)) return short_ >> at;
    const uint64_t byte = std::min<uint64_t>(at / 8, bytes_.size() - sizeof(short_));
    return GetInteger<uint64_t>(bytes_, byte) >> (at - 8 * byte);
  }
  uint32_t Bits(uint64_t at, uint32_t mask) const { return static_cast<uint32_t>(Word(at)) & mask; }
  // A zero lane borrows from its own high bit. The lowest lane that does so is zero, which is enough to know.
  bool HasInWord(uint64_t at, uint32_t entry) const {
    const uint64_t lanes = (Word(at) ^ (entry * ones_)) & masks_;
    return ((lanes - ones_) & ~lanes & highs_) != 0;
  }

  std::string_view bytes_;
  uint32_t width_ = 0, entry_mask_ = 0, lanes_ = 0;
  uint64_t ones_ = 0, highs_ = 0, masks_ = 0;
  uint64_t short_ = 0;  // all of `bytes_` if they are shorter than a load
};

// The buckets of a cuckoo filter while it is filled. Each place is one integer. Its low 32 bits are the
// entry, 0 if the place is free.

/// `Slot` is uint32_t, or uint64_t if more than the entry is kept. One thread.
template <typename Slot>
class CuckooTable {
 public:
  explicit CuckooTable(CuckooShape shape) : shape_(shape), slots_(shape.Places()) {}

  CuckooShape shape() const { return shape_; }
  const std::vector<Slot>& slots() const { return slots_; }
  Slot& operator[](uint64_t place) { return slots_[place]; }
  Slot operator[](uint64_t place) const { return slots_[place]; }
  static uint32_t EntryOf(Slot slot) { return static_cast<uint32_t>(slot); }

 private:
  CuckooShape shape_;
  std::vector<Slot> slots_;
};

/// Points into a payload. Any thread. A look-up reads two buckets: mostly two cache lines.
class CuckooView {
 public:
  /// kMalformed: a field out of range, or a length other than the fields say.
  static Result<CuckooView> Parse(std::string_view payload);
  /// False: certainly not in.
  bool MightContain(Fingerprint fingerprint) const {
    const uint64_t hash = HashOf(fingerprint);
    const uint32_t entry = shape_.EntryOf(hash);
    const uint32_t first = shape_.FirstOf(hash);
    return buckets_.EitherHas(first, shape_.Other(first, entry), entry);
  }
  /// `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  CuckooView() = default;
  CuckooShape shape_;
  PackedBuckets buckets_;
};

/// Payloads of kind 6.
struct CuckooFilter {
  static constexpr bool kSizesExactly = false;  // a set that doesn't fit takes a few more buckets
  /// For `count` items, up to 2^26.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order: the same bytes for the same set. Never fails.
  /// Takes 20 to 40 ns an item.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
  /// Appends the payload of a filled table.
  static void Append(const CuckooTable<uint32_t>& table, std::string& out);
};

}  // namespace seen
