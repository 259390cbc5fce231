#pragma once
// Integers beyond 64 bits are valid JSON, but simdjson refuses a document for one. Front ends put such
// numbers into fields this program doesn't read (trace ids); that must not cost an exposure.

#include <cstddef>
#include <span>

namespace seen {

/// What takes an out-of-range integer's place: a double nobody writes. Read in a field that matters, it says
/// that an integer beyond 64 bits stood there.
inline constexpr double kBigInteger = 1.23456789012345e303;

/// Overwrites, in place, every integer outside [-2^63, 2^64) of a would-be JSON text with kBigInteger and
/// spaces. What isn't a number by JSON's grammar stays as it is, so an invalid document stays invalid. True:
/// it changed something. O(n), no allocation.
bool ReplaceBigIntegers(std::span<char> json);

}  // namespace seen
