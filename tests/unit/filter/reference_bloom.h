#pragma once
// The filter read off schemas/snapshot.md as plainly as possible: what the fast one is compared with.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hashes.h"

namespace seen::reference {

uint64_t Xxh64(std::string_view bytes);
uint64_t HashOf(Fingerprint fingerprint);
std::string Blocks(std::span<const Fingerprint> fingerprints, uint32_t blocks);
bool MightContain(std::string_view blocks, Fingerprint fingerprint);

/// The rate as its definition has it, a sum over the load of a block. `count` up to some thousands.
double FalsePositiveRate(size_t count, uint32_t blocks);

/// The checksum a snapshot's bytes should carry.
uint32_t Checksum(std::string_view snapshot);

/// `count` different fingerprints, ascending, from `seed`.
std::vector<Fingerprint> RandomFingerprints(size_t count, uint64_t seed);

}  // namespace seen::reference
