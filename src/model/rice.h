#pragma once
// Golomb-Rice coding of sorted, unique 32-bit integers: the gaps minus one, each as a unary quotient (zeros
// ended by a one) and `parameter` low bits, bits filled from the least significant. Layout: schemas/store.md.
// Source: Rice & Plaunt 1971; the choice of the parameter: Kiely 2004, "Selecting the Golomb Parameter in
// Rice Coding", section II. Pure, any thread.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/fingerprint.h"

namespace seen {

/// Best for `count` (> 0) values up to `largest` if they are uniform; 0 to 31.
uint32_t RiceParameter(uint64_t count, uint32_t largest);

/// Appends the code. `values` sorted, unique, not empty.
void RiceEncode(std::span<const Fingerprint> values, uint32_t parameter, std::string& out);

/// Appends exactly `count` values to `out`. False unless `bytes` is exactly such a code: values within 32
/// bits, no byte too many, padding zero.
bool RiceDecode(std::string_view bytes, uint64_t count, uint32_t parameter, std::vector<Fingerprint>& out);

}  // namespace seen
