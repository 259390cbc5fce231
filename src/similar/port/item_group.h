#pragma once
// Which items are similar to an item, as the topic of groups and its readers have it: schemas/item_groups.md.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace seen {

inline constexpr size_t kNearItemsMax = 32;

/// How a pair was found to be similar. The numbers are stored.
enum class FoundBy : uint8_t {
  kFirst = 0,    // no pair: it is the first item of its group
  kCopy = 1,     // the same text
  kSimHash = 2,  // SimHashes within the distance
  kMinHash = 3,  // a band in common
  kBoth = 4,     // kSimHash and kMinHash
  kNoText = 5,   // an item without a word: alone for ever
};
std::string_view FoundByName(FoundBy found);  // "first", "copy", "simhash", "minhash", "both", "no_text"
std::optional<FoundBy> ParseFoundBy(std::string_view name);

struct NearItem {
  std::string item_id;
  std::optional<double> similarity;  // nullopt: no sketch is kept
  int distance = 0;                  // bits by which the SimHashes differ, 0 to 64
  FoundBy found = FoundBy::kBoth;
  /// Set if the pair is similar because one text contains the other: how much of the shorter text is in the
  /// longer one.
  std::optional<double> containment = std::nullopt;
  friend bool operator==(const NearItem&, const NearItem&) = default;
};

struct ItemGroup {
  std::string item_id;
  std::string group_id;  // id of the group's first item; its own if no older item is similar to it
  TimeMs created_at;
  FoundBy found = FoundBy::kFirst;   // how it was found to be similar to the group's first item
  std::optional<double> similarity;  // to the group's first item; 1 to itself
  int distance = 0;                  // to the group's first item
  std::vector<NearItem> near;        // nearest first, then the older; at most kNearItemsMax; never itself
  std::string moved_from;            // the group it was in before; empty: none
  std::optional<double> containment = std::nullopt;  // as in NearItem, of it and the group's first item
  friend bool operator==(const ItemGroup&, const ItemGroup&) = default;

  /// No other item of its group is known, and nothing is similar to it.
  bool IsAlone() const { return near.empty() && group_id == item_id; }
};

// Records of the topic of groups: schemas/item_groups.md.

/// Appends the record's value; the same group gives the same bytes.
void WriteItemGroup(const ItemGroup& group, std::string& out);
/// kMalformed: the message names field, value and remedy. Ignores members that it doesn't know. Any thread.
Result<ItemGroup> ReadItemGroup(std::string_view json);

}  // namespace seen
