#pragma once
// A standard Bloom filter over fingerprints: each sets k bits anywhere in the filter. With independent bits
// no filter takes fewer. A look-up costs k cache lines. Source: Bloom 1970.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "filter/bits.h"
#include "filter/snapshot_format.h"
#include "model/hashes.h"

namespace seen::bloom {

// The size of a Bloom filter, of bits or of counters, for kinds 2 and 3.

inline constexpr uint32_t kProbesMax = 32;
/// The most bytes of a payload after its first one: the number of bits must fit into 32 bits.
inline constexpr uint32_t kPlaceBytesMax = (uint32_t{1} << 29) - 1;

struct Size {
  uint32_t probes;       // places that an item sets, drawn one by one: 1 to kProbesMax
  uint32_t place_bytes;  // at least 1
};

/// The share of items never inserted whose `probes` places are all set, in a filter of `places` (> 0) places
/// and `count` items. Exact, over all sets and items, to within 1e-14 (1e-10 with more than 20 probes). About
/// a microsecond.
double FalsePositiveRate(size_t count, uint32_t probes, uint32_t places);

/// The fewest bytes, and then the fewest probes, whose FalsePositiveRate is at most `rate`.
/// `rate`: in (0, kRateMax]; below kRateMin it counts as kRateMin. `places_per_byte`: 8 (bits) or 2
/// (counters). Any thread, no lock. A repeated call is a look-up, for small counts at the first few rates of
/// the process. Otherwise it takes about 20 microseconds.
Size SizeFor(size_t count, double rate, uint32_t places_per_byte);

// The places that an item has in a Bloom filter: schemas/snapshot.md, "Bloom filter".

/// Powers of a multiplier with good spectra (Steele and Vigna 2022), so that no probe waits for the one
/// before it.
inline constexpr std::array<uint64_t, kProbesMax> kPowers = [] {
  std::array<uint64_t, kProbesMax> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 0xd1342543de82ef95U;
  return powers;
}();

inline uint32_t Place(uint64_t hash, uint32_t probe, uint32_t places) {
  return Range(UpperHalf(hash * kPowers[probe]), places);
}

/// 1 if the lowest bit of `is_set(place)` is 1 for all places of `hash`, else 0. No branch depends on one
/// place, so a few loads run at once. Nearly all misses fail in the first four places, and all hits pass
/// them. So the processor mostly predicts the one branch after these.
template <size_t kProbes, typename IsSet>
inline uint32_t AllSet(uint64_t hash, uint32_t places, IsSet is_set) {
  constexpr size_t kFirst = std::min<size_t>(kProbes, 4);
  const auto all_from = [&]<size_t... kProbe>(size_t from, std::index_sequence<kProbe...>) {
    return 1U & (is_set(Place(hash, static_cast<uint32_t>(from + kProbe), places)) & ...);
  };
  uint32_t all = all_from(0, std::make_index_sequence<kFirst>());
  if constexpr (kProbes > kFirst) {
    if (all != 0) all = all_from(kFirst, std::make_index_sequence<kProbes - kFirst>());
  }
  return all;
}

/// The same for a number of probes that is known only at run time.
template <typename IsSet>
inline uint32_t AllSet(uint64_t hash, uint32_t probes, uint32_t places, IsSet is_set) {
  uint32_t all = 1;
  uint32_t probe = 0;
  for (; probe < std::min(probes, 4U); ++probe) all &= is_set(Place(hash, probe, places));
  if (all == 0) return 0;
  for (; probe < probes; ++probe) all &= is_set(Place(hash, probe, places));
  return all;
}

/// The places of an item's probes, each place once.
class DifferentPlaces {
 public:
  DifferentPlaces(uint64_t hash, uint32_t probes, uint32_t places) {
    for (uint32_t probe = 0; probe < probes; ++probe) {
      const uint32_t place = Place(hash, probe, places);
      bool is_new = true;
      for (uint32_t i = 0; i < count_; ++i) is_new &= places_[i] != place;
      places_[count_] = place;
      count_ += is_new;
    }
  }
  const uint32_t* begin() const { return places_.data(); }
  const uint32_t* end() const { return places_.data() + count_; }

 private:
  std::array<uint32_t, kProbesMax> places_;
  uint32_t count_ = 0;
};

}  // namespace seen::bloom

namespace seen {

// Two kinds of payloads. Kind 2 has bits: eight places a byte. Kind 3 has counters of four bits, two places a
// byte, so that a reader could remove items; it takes four times the size. A counter stops at 15, and the
// even one stands in the lower half. Source of kind 3: Fan, Cao, Almeida, Broder 2000, section V.

/// Points into a payload. Any thread. A look-up takes about a nanosecond per probe in cache; most misses take
/// four probes.
template <uint32_t kPlacesPerByte>
class BloomViewOf {
 public:
  /// kMalformed: too short or too long, or k is out of range.
  static Result<BloomViewOf> Parse(std::string_view payload);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// One answer each: `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  BloomViewOf(uint32_t probes, std::string_view places) : probes_(probes), places_(places) {}
  uint32_t probes_;
  std::string_view places_;
};
using BloomView = BloomViewOf<8>;
using CountingBloomView = BloomViewOf<2>;

template <uint32_t kPlacesPerByte>
struct BloomFilterOf {
  static constexpr bool kSizesExactly = true;  // Render takes PayloadBytes
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints` (up to 97 million, of kind 3 up to 24 million), unique, in any
  /// order. Takes the fewest bytes that keep the rate, over all k.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
  /// Adds `fingerprints` to `payload`, which the view's Parse accepts. More items than it is sized for raise
  /// its rate. Probes of one item that fall on the same counter count once.
  static void Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload);
};
using BloomFilter = BloomFilterOf<8>;
using CountingBloomFilter = BloomFilterOf<2>;
template <>
void BloomFilter::Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload);
template <>
void CountingBloomFilter::Insert(std::span<const Fingerprint> fingerprints, std::span<char> payload);

}  // namespace seen
