#include "decode/condition.h"

#include <algorithm>

namespace seen {

bool Holds(const Condition& condition, const Scalar& value) {
  const auto matches = [&](const ConditionValue& wanted) {
    if (wanted.kind != value.kind) return false;
    return condition.test == Condition::Test::kPrefix ? value.text.starts_with(wanted.text)
                                                      : value.text == wanted.text;
  };
  return std::any_of(condition.values.begin(), condition.values.end(), matches);
}

}  // namespace seen
