#pragma once
// A value of an event that isn't nested, however it was read.

#include <cstdint>
#include <string_view>

namespace seen {

enum class ScalarKind : uint8_t {
  kString,
  kInteger,  // of at most 64 bits
  kNull,
  kBoolean,
  kOther,  // a fraction, an integer beyond 64 bits, an object, an array
};

struct Scalar {
  ScalarKind kind = ScalarKind::kOther;
  // Of a string: itself, unescaped; of an integer: its canonical decimal digits; of a boolean: "true" or
  // "false"; else empty.
  std::string_view text;
};

}  // namespace seen
