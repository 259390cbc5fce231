#pragma once
// Golomb-Rice coding of sorted, unique 32-bit integers. Each gap, minus one, becomes a unary quotient (zeros
// ended by a one) and `parameter` low bits. The bits fill each byte from the least significant on. Layout:
// schemas/store.md. Source: Rice & Plaunt 1971; the choice of the parameter: Kiely 2004, "Selecting the
// Golomb Parameter in Rice Coding", section II. Pure, any thread.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/hashes.h"

namespace seen {

inline constexpr uint32_t kRiceParameterMax = 31;
inline constexpr size_t kRiceBytesMax = size_t{1} << 28;  // of one code

/// The best parameter, 0 to 31, for `count` (> 0) uniform values up to `largest`.
uint32_t RiceParameter(uint64_t count, uint32_t largest);

/// Length of the code in bytes. `values`: sorted, unique, not empty.
size_t RiceBytes(std::span<const Fingerprint> values, uint32_t parameter);

/// Appends the code. `values`: sorted, unique, not empty.
void RiceEncode(std::span<const Fingerprint> values, uint32_t parameter, std::string& out);

/// A code that isn't decoded yet.
struct RiceCode {
  std::string_view bytes;
  uint32_t count = 0;
  uint32_t parameter = 0;
  uint32_t slack = 0;  // readable bytes behind the code, of any content; more than 8 don't help

  /// Whether the code may hold `count` values. Ask before allocating memory for them.
  bool Plausible() const {
    return parameter <= kRiceParameterMax && bytes.size() <= kRiceBytesMax &&
           count <= uint64_t{bytes.size()} * 8 / (parameter + 1);
  }
};

/// Writes the values of `codes` to `to`, one code after another. `to` must have space for all of them. True
/// only if each code is exact: plausible, values within 32 bits, no byte too many, padding zero. Several
/// codes at once cost less than one at a time, because they are decoded side by side.
bool RiceDecode(std::span<const RiceCode> codes, Fingerprint* to);

}  // namespace seen
