#pragma once
// Which items the code finds alike, as one configuration of `items` has it.

#include <cstdint>
#include <string>
#include <vector>

#include "items/group_flow.h"
#include "similar/texts.h"

namespace seen::bench {

struct Run {
  std::string name;
  SimilarMethod method = SimilarMethod::kBoth;
  bool verify = true;
  int distance_max = 3;
};

struct Alike {
  uint32_t item = 0;  // position in the file
  NearItem near;      // without its id
};

struct Found {
  std::vector<std::vector<Alike>>
      similar;                           // what Similar() answers for each item once all are in, however many
  std::vector<std::vector<Alike>> near;  // what its last record lists: at most kNearItemsMax
  std::vector<uint32_t> group;           // position of its group's first item, by that record
  GroupFigures figures;
  double apply_s = 0, similar_s = 0;
};

/// Hands the items to a GroupFlow over a RocksDB in `folder`, which is emptied first, in the file's order.
Found RunFlow(const Texts& texts, const Run& run, double similarity_min, const std::string& folder);

/// What the definition says, by comparing every pair, no list and no limit: `similar` alone is filled.
Found CompareAll(const Texts& texts, const Run& run, double similarity_min);

}  // namespace seen::bench
