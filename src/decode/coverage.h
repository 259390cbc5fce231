#pragma once
// Which filters an event belongs to: conditions on its values, and scenes.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decode/field_rule.h"
#include "model/event.h"

namespace seen {

/// A value of an event that isn't nested, for both ways of reading it.
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

/// Whether the value can be the id of a user or an item.
inline bool IsId(const Scalar& value) {
  if (value.kind == ScalarKind::kInteger) return true;
  return value.kind == ScalarKind::kString && !value.text.empty() && value.text.size() <= kIdBytesMax;
}

// Which filters an event belongs to.

/// A test of one value of an event: input.only_if, filters[].when.
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
    kExists,  // anything but null
  };

  JsonPointer at;
  Test test = Test::kIn;
  std::vector<ConditionValue> values;
  bool negated = false;  // holds where the test fails
  bool as_text = false;  // integers and strings are compared by their text: 5 is "5"
};

/// A missing value is null here. Null satisfies no test; a fraction, an object or an array only kExists.
/// Pure, O(values).
bool Holds(const Condition& condition, const Scalar& value);

/// What one filter covers. All empty: every event.
struct Coverage {
  static constexpr size_t kScenesMax = 256;
  static constexpr size_t kSceneBytesMax = 256;

  std::vector<std::string> scenes;  // exact names, or prefixes: "home_*"; "*" is any scene, also none
  std::vector<Condition> when;      // all must hold, and `scenes` too if there are any
};

/// True: `scenes` is empty or `scene` is one of them. An event without a scene has the scene "".
bool CoversScene(std::span<const std::string> scenes, std::string_view scene);

/// The scalars of an event that conditions test. The caller gives each one a number (0 to 31).
struct Attributes {
  const Scalar* values = nullptr;
  uint32_t present = 0;  // a bit per number: the event has this scalar
};

/// A condition, with the number of its pointer.
struct NumberedCondition {
  Condition condition;
  uint8_t number = 0;
};

bool AllHold(std::span<const NumberedCondition> conditions, const Attributes& attributes);

/// The coverage of all filters, prepared for use with each event. Immutable once filled: any thread.
class CoverageTable {
 public:
  /// Add the filters in the order of the configuration, at most 64.
  void Add(std::vector<std::string> scenes, std::vector<NumberedCondition> when);

  bool covers_all() const { return asked_.empty(); }
  bool needs_scene() const { return needs_scene_; }
  /// Bit i: filter i covers the event. Bits beyond the filters are set as well. Pure.
  FilterBits Of(std::string_view scene, const Attributes& attributes) const;

 private:
  struct Filter {
    FilterBits bit;
    std::vector<std::string> scenes;
    std::vector<NumberedCondition> when;
  };
  size_t filters_ = 0;
  std::vector<Filter> asked_;  // those that don't cover everything
  bool needs_scene_ = false;
};

}  // namespace seen
