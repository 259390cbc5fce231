#pragma once
// Keys and values of the table of groups: schemas/store.md, "Table of groups". The value of each row that
// leaves with the window begins with the item's time. So a compaction needn't know the rest of the value.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/hashes.h"
#include "similar/port/item_group.h"

namespace seen::group_rows {

/// A key's first byte.
enum class Table : unsigned char {
  kDescriptor = 0x00,    // one key
  kPosition = 0x01,      // a partition of the topic
  kRecord = 0x10,        // fingerprint, item id
  kSimilarLists = 0x11,  // fingerprint, of items that aren't alone
  kMember = 0x12,        // group's fingerprint, group, item id; not for the group's first item
};

inline constexpr char kFormat = 1;

std::string DescriptorKey();
std::string DescriptorOf(std::string_view cluster, std::string_view topic, int32_t partitions);
std::string PositionKey(int32_t partition);
std::string RecordKey(Fingerprint item, std::string_view item_id);
std::string SimilarListKey(Fingerprint item);
std::string MemberPrefix(std::string_view group_id);

/// True for the rows that the window removes: records, similar and members.
bool LeavesWithWindow(std::string_view key);
std::optional<TimeMs> TimeOf(std::string_view value);

inline constexpr TimeMs kNoTime{INT64_MIN};

/// How far the table has read a partition of the topic.
struct Position {
  int64_t next_offset = 0;
  int64_t anchor_offset = -1;  // the last record read; -1: none
  TimeMs anchor_timestamp;
  uint64_t anchor_hash = 0;  // RecordHash
  TimeMs newest = kNoTime;   // the greatest time of an item in the table, of any partition
};
std::string EncodePosition(const Position& position);
std::optional<Position> DecodePosition(std::string_view value);

/// `time`: the window removes the row by this time. `json`: the topic's record as it came.
std::string RecordValue(TimeMs time, const ItemGroup& group, std::string_view json);
std::string MemberValue(TimeMs time);
struct RecordView {
  TimeMs time;
  std::string_view group_id;
  std::string_view json;
};
std::optional<RecordView> ParseRecord(std::string_view value);

/// If two items have one fingerprint, the one that was written last has the row: `check` says which one it
/// is.
std::string SimilarListValue(TimeMs time, const ItemGroup& group);
struct SimilarListView {
  uint32_t check = 0;
  std::string_view fingerprints;  // four bytes each: the group's first item, then the near items
  size_t count() const { return fingerprints.size() / sizeof(uint32_t); }
  Fingerprint at(size_t i) const;
};
std::optional<SimilarListView> ParseSimilarList(std::string_view value);
uint32_t CheckOf(std::string_view item_id);

}  // namespace seen::group_rows
