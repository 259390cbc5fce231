#pragma once
// A test of one value of an event: input.only_if, filters[].when.

#include <string>
#include <vector>

#include "decode/json_pointer.h"
#include "decode/scalar.h"

namespace seen {

/// Compares by JSON type: 5 isn't "5". Strings compare byte by byte.
struct ConditionValue {
  ScalarKind kind = ScalarKind::kString;  // kString, kInteger or kBoolean
  std::string text;                       // as in Scalar
};

struct Condition {
  static constexpr size_t kConditionsMax = 8;  // that must hold together
  static constexpr size_t kValuesMax = 256;
  static constexpr size_t kValueBytesMax = 512;

  enum class Test : uint8_t {
    kIn,      // one of `values`; "equals" is a list of one
    kPrefix,  // a string that begins with one of `values`, which are strings
  };

  JsonPointer at;
  Test test = Test::kIn;
  std::vector<ConditionValue> values;
};

/// A value that is missing, null, a fraction, an object or an array satisfies no condition. Pure, O(values).
bool Holds(const Condition& condition, const Scalar& value);

}  // namespace seen
