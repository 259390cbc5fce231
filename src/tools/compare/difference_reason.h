#pragma once
// Finds the reason why only one of two filters drops a candidate, from the daemon's answers.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/clock.h"
#include "tools/compare/comparison.h"

namespace seen {

struct DifferenceReason {
  std::string key;    // one of a bounded set, for scripts: "exposed_today", "not_known"
  std::string words;  // the same in words for a person
};

/// Whether DifferenceReasonOf also needs the user's segments.
bool NeedsSegments(const FilterDifference& difference, const nlohmann::json& why);

/// `why`: the unchanged JSON of GET .../why. `segments`: that of GET .../segments if NeedsSegments is true,
/// otherwise null. `now`: ages are counted back from it in UTC days. Throws nlohmann::json::exception if the
/// answers have another form. Pure.
DifferenceReason DifferenceReasonOf(const FilterDifference& difference, const nlohmann::json& why,
                                    const nlohmann::json& segments, TimeMs now);

/// The reason if the daemon gave no answer to `why`.
DifferenceReason NoReason();

}  // namespace seen
