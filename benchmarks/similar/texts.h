#pragma once
// Items of a file, read as the daemon reads them.

#include <cstdint>
#include <string>
#include <vector>

#include "group/item_features.h"

namespace seen::bench {

struct Texts {
  std::vector<std::string> item_ids;
  std::vector<ItemFeatures> features;
  uint64_t bytes = 0;  // of titles and texts
  double seconds = 0;  // of making the features, one thread's share: times of all threads, summed
};

/// `path`: an item's JSON a line, as descriptions.py writes them. Ends the program where one can't be read.
Texts ReadTexts(const std::string& path, double similarity_min);

}  // namespace seen::bench
