#pragma once
// Why only one of two filters drops a candidate, from what the daemon says about it.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/clock.h"
#include "tools/compare/comparison.h"

namespace seen {

struct DifferenceReason {
  std::string key;    // of a bounded set, for scripts: "exposed_today", "not_known"
  std::string words;  // the same for a person
};

/// Whether DifferenceReasonOf needs the user's segments too.
bool NeedsSegments(const FilterDifference& difference, const nlohmann::json& why);

/// `why`: GET .../why as it is. `segments`: GET .../segments, where NeedsSegments asks for it, else null.
/// `now`: days count back from it, in UTC. Throws nlohmann::json::exception where the answers aren't like
/// that. Pure.
DifferenceReason DifferenceReasonOf(const FilterDifference& difference, const nlohmann::json& why,
                                    const nlohmann::json& segments, TimeMs now);

/// The reason where the daemon gave no answer to `why`.
DifferenceReason NoReason();

}  // namespace seen
