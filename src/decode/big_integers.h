#pragma once
// Integers beyond 64 bits are valid JSON, but simdjson refuses a document that has one. Front ends put such
// numbers into fields that this program doesn't read (trace ids). That must not cost an exposure.

#include <cstddef>
#include <span>

namespace seen {

/// The double that replaces an integer beyond 64 bits. Nobody writes this double, so a field with this value
/// had such an integer.
inline constexpr double kBigInteger = 1.23456789012345e303;

/// Overwrites, in place, each integer outside [-2^63, 2^64) with kBigInteger and spaces. `json` may be
/// invalid: a token that isn't a number by JSON's grammar stays, so an invalid document stays invalid. True:
/// `json` has changed. O(n), no allocation.
bool ReplaceBigIntegers(std::span<char> json);

}  // namespace seen
