#pragma once
// A value of an event that isn't nested, for both ways of reading it.

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
  // A string: its unescaped text. An integer: its canonical decimal digits. A boolean: "true" or "false".
  // Else empty.
  std::string_view text;
};

}  // namespace seen
