#pragma once
// Why two items are similar or not: everything that the daemon would look at, and its decision.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "similar/groups/group_flow.h"
#include "similar/text/feature_reader.h"
#include "tools/common_options.h"
#include "tools/load/items_options.h"

namespace seen {

struct PairItem {
  std::string item_id;
  std::string title, text, lang;
  TimeMs created_at;
};

/// Members: "a", "b" (the two items), "alike", "because" (a word: how one was found, or why not), "why" (a
/// sentence), "copy", "simhash", "bands", "sketch", "jaccard" and "tokens": docs/SEENCTL.md. The order of the
/// two items doesn't matter for the decision.
OrderedJson ComparePair(const PairItem& a, const PairItem& b, const GroupOptions& rules,
                        FeatureReader& reader);

/// The same for a person, with the `tokens_max` heaviest tokens of each list.
std::string PairText(const OrderedJson& pair, size_t tokens_max);

struct PairQuestion {
  ItemsTopicOptions items;
  std::vector<std::string> pair;  // two ids, or @FILE
  size_t tokens = 10;             // the heaviest ones to show
};

/// Prints the answer. Returns an exit status.
int RunPairQuestion(const PairQuestion& question, bool json, bool quiet);

}  // namespace seen
