#pragma once
// Golomb-Rice coding of sorted, unique 32-bit integers: the gaps minus one, each as a unary quotient (zeros
// ended by a one) and `parameter` low bits, bits filled from the least significant. Layout: schemas/store.md.
// Source: Rice & Plaunt 1971; the choice of the parameter: Kiely 2004, "Selecting the Golomb Parameter in
// Rice Coding", section II. Pure, any thread.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/fingerprint.h"

namespace seen {

inline constexpr uint32_t kRiceParameterMax = 31;
inline constexpr size_t kRiceBytesMax = size_t{1} << 28;  // of one code

/// Best for `count` (> 0) values up to `largest` if they are uniform; 0 to 31.
uint32_t RiceParameter(uint64_t count, uint32_t largest);

/// How long the code will be. `values` sorted, unique, not empty.
size_t RiceBytes(std::span<const Fingerprint> values, uint32_t parameter);

/// Appends the code. `values` sorted, unique, not empty.
void RiceEncode(std::span<const Fingerprint> values, uint32_t parameter, std::string& out);

/// A code, not yet looked into.
struct RiceCode {
  std::string_view bytes;
  uint32_t count = 0;
  uint32_t parameter = 0;
  uint32_t slack = 0;  // bytes behind the code that may be read too, whatever they hold: 8 are enough

  /// Whether it may hold what it says: what is asked before memory is made for `count` values.
  bool Plausible() const {
    return parameter <= kRiceParameterMax && bytes.size() <= kRiceBytesMax &&
           count <= uint64_t{bytes.size()} * 8 / (parameter + 1);
  }
};

/// Writes the values of `codes`, one code's after another's, to `to`, which has room for all of them. False
/// unless each is exactly such a code of its count: plausible, values within 32 bits, no byte too many,
/// padding zero. Several codes cost less than one at a time: they are decoded side by side.
bool RiceDecode(std::span<const RiceCode> codes, Fingerprint* to);

}  // namespace seen
