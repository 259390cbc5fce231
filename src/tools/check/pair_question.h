#pragma once
// Finds two items, in files or in the topic of items, and says why they are similar or not.

#include <string>
#include <vector>

#include "tools/load/items_options.h"

namespace seen {

struct PairQuestion {
  ItemsTopicOptions items;
  std::vector<std::string> pair;  // two ids, or @FILE
  size_t tokens = 10;             // the heaviest ones to show
  bool json = false;
  bool quiet = false;
};

/// Prints the answer. Returns an exit status.
int RunPairQuestion(const PairQuestion& question);

}  // namespace seen
