#pragma once
// Keys, lists and rows of the index of items: schemas/store.md, "The index of items".

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "similar/groups/item_index_port.h"

namespace seen {

/// A key's first byte.
enum class ItemTable : unsigned char {
  kIds = 0x10,       // item id -> number
  kContents = 0x11,  // content hash -> list of numbers with times: the oldest
  kItems = 0x12,     // number -> the item's row
  kGroups = 0x13,    // number -> the item's group; none: it is alone
  kMembers = 0x14,   // a group's first, member -> nothing
  kGone = 0x15,  // number -> the row, without sketch, of an item that was taken out: lists may still name it
  kPresence = 0x16,  // row number -> hashes of the bucket's keys: item_presence.h
  kSimHash = 0x20,   // plus 4 per class, plus the table: block -> list of numbers with SimHashes: the newest
  kBand = 0x30,      // plus the band, or kBands for beginnings: hash -> list of numbers: the newest
};

std::string IdKey(std::string_view item_id);
std::string ContentKey(uint64_t content_hash);
std::string NumberKey(ItemTable table, uint64_t number);
std::string MemberKey(ItemRef first, ItemRef member);
/// The prefix of the keys of `first`'s members. The prefix of first + 1 is past them.
std::string MembersKey(uint64_t first);
std::optional<ItemRef> MemberOf(std::string_view member_key);
unsigned char SimHashTableOf(const ItemFeatures& features, size_t table);  // a key's first byte
std::string SimHashKey(const ItemFeatures& features, size_t table);
std::string BandKey(uint64_t band, size_t place);  // kBands: of a beginning

std::string BucketFamilyName(int32_t bucket);
std::optional<int32_t> BucketOfFamily(std::string_view name);

inline constexpr size_t kNumberBytes = 5;
void PutNumber(uint64_t number, std::string& out);
uint64_t GetNumber(const char* bytes);

/// A list is a u32, the number of entries ever put in, and the kept entries, oldest first. An entry has six
/// bytes of a value, in lists that have values, and five bytes of a number. A value is a SimHash without its
/// block, or milliseconds.
inline constexpr size_t kListHeadBytes = 4;
inline constexpr size_t kValueBytes = 6;
struct ListShape {
  size_t entry_bytes = 0;
  size_t entries_max = 0;
  bool keeps_newest = true;
};
/// nullopt: the key isn't a list's.
std::optional<ListShape> ListShapeOf(std::string_view key);
std::string ListOperand(std::optional<uint64_t> value, uint64_t number);

/// RestOf: the 48 bits of a SimHash outside the block of `table`. WithBlock: the SimHash again.
constexpr uint64_t RestOf(uint64_t simhash, size_t table) {
  const size_t below = 48 - 16 * table;  // bits after the block
  const uint64_t low = simhash & ((uint64_t{1} << below) - 1);
  const uint64_t high = table == 0 ? 0 : simhash >> (below + 16);
  return high << below | low;
}
constexpr uint64_t WithBlock(uint64_t rest, uint16_t block, size_t table) {
  const size_t below = 48 - 16 * table;
  const uint64_t low = rest & ((uint64_t{1} << below) - 1);
  const uint64_t high = table == 0 ? 0 : rest >> below << (below + 16);
  return high | uint64_t{block} << below | low;
}

/// A view of a list's bytes.
class ListView {
 public:
  /// nullopt: the bytes aren't a list.
  static std::optional<ListView> Of(std::string_view bytes, const ListShape& shape);
  uint32_t ever() const { return ever_; }
  size_t size() const { return entries_.size() / entry_bytes_; }
  // A look-up reads thousands of entries. So it loads eight bytes at once; the first of them belong to other
  // fields.
  uint64_t number(size_t i) const { return Load(At(i) + entry_bytes_) & ((uint64_t{1} << 40) - 1); }
  uint64_t value(size_t i) const { return Load(At(i) + kValueBytes) & ((uint64_t{1} << 48) - 1); }
  std::string_view entry(size_t i) const { return {At(i), entry_bytes_}; }

 private:
  static_assert(kListHeadBytes + kNumberBytes >= sizeof(uint64_t));  // bytes before the first entry's end
  static uint64_t Load(const char* end) {
    uint64_t value = 0;
    std::memcpy(&value, end - sizeof value, sizeof value);
    return __builtin_bswap64(value);
  }
  const char* At(size_t i) const { return entries_.data() + i * entry_bytes_; }
  uint32_t ever_ = 0;
  size_t entry_bytes_ = 1;
  std::string_view entries_;
};

void EncodeStoredItem(const StoredItem& item, std::string& out);
/// nullopt: EncodeStoredItem didn't write it.
std::optional<StoredItem> DecodeStoredItem(std::string_view bytes);

void EncodeStoredGroup(const StoredGroup& group, std::string& out);
std::optional<StoredGroup> DecodeStoredGroup(std::string_view bytes);

/// In the default family.
inline constexpr std::string_view kIndexPositionKey{"\x00", 1};
void EncodeIndexPosition(const IndexPosition& position, std::string& out);
std::optional<IndexPosition> DecodeIndexPosition(std::string_view bytes);

/// In the default family. It repeats the next offset of each position, if the index's buckets have had rows
/// of presence since their first checkpoint. Older versions neither write nor change it.
inline constexpr std::string_view kIndexPresenceKey{"\x00\x01", 2};
std::string EncodePresenceMark(const IndexPosition& position);

}  // namespace seen
