#pragma once
// Fingerprints in ascending order, for kinds whose bytes must not depend on the order of the input.

#include <span>
#include <vector>

#include "model/fingerprint.h"

namespace seen {

/// Returns `fingerprints` if they are in order, else a sorted copy in `copy`, which must outlive the result.
/// O(n): about 8 ns an item, 1 ns if they are in order. Any thread.
std::span<const Fingerprint> Sorted(std::span<const Fingerprint> fingerprints,
                                    std::vector<Fingerprint>& copy);

}  // namespace seen
