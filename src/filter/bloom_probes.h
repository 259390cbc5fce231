#pragma once
// The places that an item has in a Bloom filter: schemas/snapshot.md, "Bloom filter".

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "filter/bloom_size.h"
#include "filter/fingerprint_hash.h"

namespace seen::bloom {

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
