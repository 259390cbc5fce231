#include "group/distance_rule.h"

#include <algorithm>

namespace seen {
namespace {

// By length and script. Measured on Debian's one-line descriptions (English 60,294, Japanese 5,739). Of the
// pairs at 2 bits or less, 28% (English) and 67% (Japanese) are similar by their shingles; at 3 bits 25% and
// 38%. See docs/LEVERS.md.
constexpr int kShortMax[] = {2, 2};  // alphabetic, dictionary
constexpr int kLongMax[] = {3, 3};

}  // namespace

int DistanceMax(int configured, LengthClass length, ScriptClass script) {
  if (length == LengthClass::kEmpty) return -1;
  const auto place = static_cast<size_t>(script);
  return std::min(configured, length == LengthClass::kShort ? kShortMax[place] : kLongMax[place]);
}

}  // namespace seen
