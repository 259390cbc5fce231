#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace seen {

/// An item's canonical key everywhere past decoding: the upper half of XXH64(item id as UTF-8, seed 0).
/// Two of 3,000 items share one in about one user of a thousand; see docs/ARCHITECTURE.md, "Fingerprints".
struct Fingerprint {
  uint32_t value = 0;
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

Fingerprint FingerprintOf(std::string_view item_id);

}  // namespace seen
