#include "similar/store/item_index_keys.h"

#include <charconv>

#include "base/byte_codec.h"

namespace seen {
namespace {

constexpr std::string_view kFamilyPrefix = "items-";

std::string Begin(unsigned char table, size_t bytes) {
  std::string key;
  key.reserve(1 + bytes);
  key.push_back(static_cast<char>(table));
  return key;
}
std::string Begin(ItemTable table, size_t bytes) { return Begin(static_cast<unsigned char>(table), bytes); }

unsigned char ClassOf(const ItemFeatures& features) {
  const bool is_long = features.length == LengthClass::kLong;
  const bool by_dictionary = features.script == ScriptClass::kDictionary;
  return static_cast<unsigned char>((is_long ? 2 : 0) + (by_dictionary ? 1 : 0));
}

}  // namespace

std::string IdKey(std::string_view item_id) { return Begin(ItemTable::kIds, item_id.size()).append(item_id); }

std::string ContentKey(uint64_t content_hash) {
  std::string key = Begin(ItemTable::kContents, 8);
  PutBigEndian(content_hash, 8, key);
  return key;
}

std::string NumberKey(ItemTable table, uint64_t number) {
  std::string key = Begin(table, kNumberBytes);
  PutBigEndian(number, kNumberBytes, key);
  return key;
}

std::string MembersKey(uint64_t first) { return NumberKey(ItemTable::kMembers, first); }

std::string MemberKey(ItemRef first, ItemRef member) {
  std::string key = MembersKey(first.number);
  PutBigEndian(member.number, kNumberBytes, key);
  PutBigEndian(static_cast<uint32_t>(member.bucket), 4, key);
  return key;
}

std::optional<ItemRef> MemberOf(std::string_view key) {
  if (key.size() != 1 + 2 * kNumberBytes + 4) return std::nullopt;
  const char* member = key.data() + 1 + kNumberBytes;
  return ItemRef{static_cast<int32_t>(GetBigEndian(member + kNumberBytes, 4)),
                 GetBigEndian(member, kNumberBytes)};
}

unsigned char SimHashTableOf(const ItemFeatures& features, size_t table) {
  const auto first = static_cast<unsigned char>(ItemTable::kSimHash);
  return static_cast<unsigned char>(first + size_t{4} * ClassOf(features) + table);
}

std::string SimHashKey(const ItemFeatures& features, size_t table) {
  std::string key = Begin(SimHashTableOf(features, table), 2);
  PutBigEndian(BlockOf(features.simhash, table), 2, key);
  return key;
}

std::string BandKey(uint64_t band, size_t place) {
  std::string key = Begin(static_cast<unsigned char>(static_cast<size_t>(ItemTable::kBand) + place), 6);
  PutBigEndian(KeptBand(band) >> 16, 6, key);
  return key;
}

std::string BucketFamilyName(int32_t bucket) { return std::string(kFamilyPrefix) + std::to_string(bucket); }

std::optional<int32_t> BucketOfFamily(std::string_view name) {
  if (!name.starts_with(kFamilyPrefix)) return std::nullopt;
  name.remove_prefix(kFamilyPrefix.size());
  int32_t bucket = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), bucket);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return bucket;
}

void PutNumber(uint64_t number, std::string& out) { PutBigEndian(number, kNumberBytes, out); }
uint64_t GetNumber(const char* bytes) { return GetBigEndian(bytes, kNumberBytes); }

std::optional<ListShape> ListShapeOf(std::string_view key) {
  if (key.empty()) return std::nullopt;
  const auto table = static_cast<unsigned char>(key[0]);
  if (table == static_cast<unsigned char>(ItemTable::kContents)) {
    return ListShape{kValueBytes + kNumberBytes, kCopiesMax, false};
  }
  if (table >= 0x20 && table < 0x30) return ListShape{kValueBytes + kNumberBytes, kListMax, true};
  if (table >= 0x30 && table < 0x30 + kBands) return ListShape{kNumberBytes, kListMax, true};
  return std::nullopt;
}

std::string ListOperand(std::optional<uint64_t> value, uint64_t number) {
  std::string operand;
  operand.reserve(kListHeadBytes + kValueBytes + kNumberBytes);
  PutLittleEndian(uint32_t{1}, operand);
  if (value) PutBigEndian(*value, kValueBytes, operand);
  PutNumber(number, operand);
  return operand;
}

std::optional<ListView> ListView::Of(std::string_view bytes, const ListShape& shape) {
  if (bytes.size() < kListHeadBytes || (bytes.size() - kListHeadBytes) % shape.entry_bytes != 0) {
    return std::nullopt;
  }
  ListView view;
  view.entry_bytes_ = shape.entry_bytes;
  view.ever_ = FieldReader(bytes.substr(0, kListHeadBytes)).Get<uint32_t>();
  view.entries_ = bytes.substr(kListHeadBytes);
  return view;
}

}  // namespace seen
