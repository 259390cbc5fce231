#pragma once
// The places that an item has in a Bloom filter: schemas/snapshot.md, "Bloom filter".

#include <array>
#include <cstdint>

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

/// Where an item's probes fall, each place once.
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
