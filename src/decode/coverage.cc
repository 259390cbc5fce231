#include "decode/coverage.h"

#include <algorithm>

#include "base/result.h"

namespace seen {

bool Holds(const Condition& condition, const Scalar& value) {
  const bool as_text =
      condition.as_text && (value.kind == ScalarKind::kInteger || value.kind == ScalarKind::kString);
  const auto matches = [&](const ConditionValue& wanted) {
    if (wanted.kind != value.kind && (!as_text || wanted.kind == ScalarKind::kBoolean)) return false;
    return condition.test == Condition::Test::kPrefix ? value.text.starts_with(wanted.text)
                                                      : value.text == wanted.text;
  };
  const bool passed = condition.test == Condition::Test::kExists
                          ? value.kind != ScalarKind::kNull
                          : std::any_of(condition.values.begin(), condition.values.end(), matches);
  return passed != condition.negated;
}

bool CoversScene(std::span<const std::string> scenes, std::string_view scene) {
  if (scenes.empty()) return true;
  return std::any_of(scenes.begin(), scenes.end(), [&](std::string_view covered) {
    if (!covered.ends_with('*')) return covered == scene;
    return scene.starts_with(covered.substr(0, covered.size() - 1));
  });
}

bool AllHold(std::span<const NumberedCondition> conditions, const Attributes& attributes) {
  return std::all_of(conditions.begin(), conditions.end(), [&](const NumberedCondition& each) {
    const bool present = ((attributes.present >> each.number) & 1) != 0;
    return Holds(each.condition, present ? attributes.values[each.number] : Scalar{ScalarKind::kNull, {}});
  });
}

void CoverageTable::Add(std::vector<std::string> scenes, std::vector<NumberedCondition> when) {
  Check(filters_ < 64, "a bit for each filter");
  const FilterBits bit = FilterBits{1} << filters_++;
  if (scenes.empty() && when.empty()) return;
  needs_scene_ |= !scenes.empty();
  asked_.push_back({bit, std::move(scenes), std::move(when)});
}

FilterBits CoverageTable::Of(std::string_view scene, const Attributes& attributes) const {
  FilterBits bits = kAllFilters;
  for (const Filter& filter : asked_) {
    if (!CoversScene(filter.scenes, scene) || !AllHold(filter.when, attributes)) bits &= ~filter.bit;
  }
  return bits;
}

}  // namespace seen
