#pragma once
// Which items are like an item, as the topic of groups and its readers have it: schemas/item_groups.md.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace seen {

inline constexpr size_t kNearItemsMax = 32;

/// How a pair was found to be alike. Numbers are stored.
enum class FoundBy : uint8_t {
  kFirst = 0,    // it wasn't: the first item of its group
  kCopy = 1,     // the same text
  kSimHash = 2,  // within the distance
  kMinHash = 3,  // a band in common
  kBoth = 4,     // the last two
  kNoText = 5,   // an item without a word: alone for ever
};
std::string_view FoundByName(FoundBy found);  // "first", "copy", "simhash", "minhash", "both", "no_text"
std::optional<FoundBy> ParseFoundBy(std::string_view name);

struct NearItem {
  std::string item_id;
  std::optional<double> similarity;  // nullopt: no sketch is kept
  int distance = 0;                  // bits by which the SimHashes differ, 0 to 64
  FoundBy found = FoundBy::kBoth;
  friend bool operator==(const NearItem&, const NearItem&) = default;
};

struct ItemGroup {
  std::string item_id;
  std::string group_id;  // id of the group's first item; its own where nothing older is like it
  TimeMs created_at;
  FoundBy found = FoundBy::kFirst;   // how it is like the group's first item
  std::optional<double> similarity;  // to that one; 1 to itself
  int distance = 0;                  // likewise
  std::vector<NearItem> near;        // nearest first, then the older; at most kNearItemsMax; never itself
  std::string moved_from;            // the group it was in before; empty: none
  friend bool operator==(const ItemGroup&, const ItemGroup&) = default;

  /// It is the only one of its group that is known, and like nothing.
  bool IsAlone() const { return near.empty() && group_id == item_id; }
};

}  // namespace seen
