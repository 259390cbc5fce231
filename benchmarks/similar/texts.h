#pragma once
// The items of a file, read as the daemon reads items.

#include <cstdint>
#include <string>
#include <vector>

#include "similar/port/options.h"
#include "similar/text/item_features.h"

namespace seen::bench {

struct Texts {
  std::vector<std::string> item_ids;
  std::vector<ItemFeatures> features;
  uint64_t bytes = 0;  // of titles and texts
  double seconds = 0;  // of making the features, summed over all threads
};

/// `path`: a file with the JSON of one item a line, as descriptions.py writes it. Ends the program if a line
/// can't be read.
Texts ReadTexts(const std::string& path, double similarity_min, const TextRules& rules);

}  // namespace seen::bench
