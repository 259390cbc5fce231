#pragma once
// Why two items are alike, or aren't: everything that the daemon would look at, and what it would decide.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/clock.h"
#include "group/feature_reader.h"
#include "items/group_flow.h"

namespace seen {

struct PairItem {
  std::string item_id;
  std::string title, text, lang;
  TimeMs created_at;
};

/// Members: "a", "b" (what each is), "alike", "because" (how it was found, or why not: a word), "why" (a
/// sentence), "copy", "simhash", "bands", "sketch", "jaccard" and "tokens": docs/SEENCTL.md. Which is
/// the older doesn't matter.
nlohmann::ordered_json ComparePair(const PairItem& a, const PairItem& b, const GroupOptions& rules,
                                   FeatureReader& reader);

/// The same for a person, with the `tokens_max` heaviest tokens of each list.
std::string PairText(const nlohmann::ordered_json& pair, size_t tokens_max);

}  // namespace seen
