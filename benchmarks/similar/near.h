#pragma once
// Which items the code finds similar with one configuration of `items`.

#include <cstdint>
#include <string>
#include <vector>

#include "similar/groups/group_flow.h"
#include "similar/texts.h"

namespace seen::bench {

struct Run {
  std::string name;
  GroupOptions options;
};

struct Alike {
  uint32_t item = 0;  // position in the file
  NearItem near;      // without its id
};

struct Found {
  std::vector<std::vector<Alike>> similar;  // the answers of Similar() once all are in, however many
  std::vector<std::vector<Alike>> near;     // in the last record: at most kNearItemsMax
  std::vector<uint32_t> group;              // position of the group's first item, by the last record
  GroupFigures figures;
  double apply_s = 0, similar_s = 0;
};

/// Gives the items in the file's order to a GroupFlow over a RocksDB in `folder`. `folder` is emptied first.
Found RunFlow(const Texts& texts, const GroupOptions& options, const std::string& folder);

/// What the definition says: compares every pair, without lists and limits. Fills only `similar`.
Found CompareAll(const Texts& texts, const GroupOptions& options);

}  // namespace seen::bench
