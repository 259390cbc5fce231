#include "similar/store/item_index_rows.h"

#include <charconv>
#include <cmath>

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
  if (table >= 0x30 && table <= 0x30 + kBands) return ListShape{kNumberBytes, kListMax, true};
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

namespace {

constexpr uint8_t kRowVersion = 1;
constexpr uint8_t kRowVersionWithNumbers = 3;  // 2 was of text version 3
constexpr uint8_t kHasBeginning = 0x40;        // added to the version
constexpr uint16_t kNoSimilarity = 0xffff;
constexpr double kSimilaritySteps = 10'000;

void PutSimilarity(std::optional<double> similarity, std::string& out) {
  const uint16_t steps =
      similarity ? static_cast<uint16_t>(std::lround(*similarity * kSimilaritySteps)) : kNoSimilarity;
  PutLittleEndian(steps, out);
}
std::optional<double> GetSimilarity(FieldReader& fields) {
  const auto steps = fields.Get<uint16_t>();
  return steps == kNoSimilarity ? std::nullopt : std::optional(steps / kSimilaritySteps);
}

// How a pair was found, with kContained if one text contains the other. Only then its containment follows.
constexpr uint8_t kContained = 0x80;
void PutFound(FoundBy found, std::optional<double> containment, std::string& out) {
  PutLittleEndian(static_cast<uint8_t>(static_cast<uint8_t>(found) | (containment ? kContained : 0)), out);
  if (containment) PutSimilarity(containment, out);
}
FoundBy GetFound(FieldReader& fields, std::optional<double>& containment) {
  const auto found = fields.Get<uint8_t>();
  if ((found & kContained) != 0) containment = GetSimilarity(fields);
  return static_cast<FoundBy>(found & ~kContained);
}

void PutRef(ItemRef item, std::string& out) {
  PutLittleEndian(item.bucket, out);
  PutLittleEndian(static_cast<uint32_t>(item.number), out);
  PutLittleEndian(static_cast<uint8_t>(item.number >> 32), out);
}
ItemRef GetRef(FieldReader& fields) {
  ItemRef item;
  item.bucket = fields.Get<int32_t>();
  item.number = fields.Get<uint32_t>();
  item.number |= static_cast<uint64_t>(fields.Get<uint8_t>()) << 32;
  return item;
}

void PutKeptBand(uint64_t band, std::string& out) {
  PutLittleEndian(static_cast<uint32_t>(band >> 16), out);
  PutLittleEndian(static_cast<uint16_t>(band >> 48), out);
}
uint64_t GetKeptBand(FieldReader& fields) {
  const uint64_t low = fields.Get<uint32_t>();
  return low << 16 | static_cast<uint64_t>(fields.Get<uint16_t>()) << 48;
}

}  // namespace

void EncodeStoredItem(const StoredItem& item, std::string& out) {
  const ItemFeatures& features = item.features;
  out.clear();
  const bool has_numbers = !features.numbers.values.empty();
  const uint8_t version = has_numbers ? kRowVersionWithNumbers : kRowVersion;
  PutLittleEndian(static_cast<uint8_t>(features.beginning == 0 ? version : version | kHasBeginning), out);
  PutText(item.item_id, out);
  PutLittleEndian(item.created_at.value, out);
  PutLittleEndian(static_cast<uint8_t>(features.length), out);
  PutLittleEndian(static_cast<uint8_t>(features.script), out);
  PutLittleEndian(features.words, out);
  PutLittleEndian(features.content_hash, out);
  PutLittleEndian(features.simhash, out);
  for (const uint64_t band : features.bands) PutKeptBand(band, out);
  PutLittleEndian(features.sketch.level, out);
  PutLittleEndian(static_cast<uint16_t>(features.sketch.values.size()), out);
  PutAll(features.sketch.values, out);
  if (has_numbers) {
    PutLittleEndian(features.numbers.level, out);
    PutLittleEndian(static_cast<uint8_t>(features.numbers.values.size()), out);
    PutAll(features.numbers.values, out);
  }
  if (features.beginning != 0) PutKeptBand(features.beginning, out);
}

std::optional<StoredItem> DecodeStoredItem(std::string_view bytes) {
  FieldReader fields(bytes);
  StoredItem item;
  ItemFeatures& features = item.features;
  const auto first = fields.Get<uint8_t>();
  const auto version = static_cast<uint8_t>(first & ~kHasBeginning);
  if (version != kRowVersion && version != kRowVersionWithNumbers) return std::nullopt;
  item.item_id = fields.GetText();
  item.created_at.value = fields.Get<int64_t>();
  features.length = static_cast<LengthClass>(fields.Get<uint8_t>());
  features.script = static_cast<ScriptClass>(fields.Get<uint8_t>());
  features.words = fields.Get<uint32_t>();
  features.content_hash = fields.Get<uint64_t>();
  features.simhash = fields.Get<uint64_t>();
  for (uint64_t& band : features.bands) band = GetKeptBand(fields);
  features.sketch.level = fields.Get<uint8_t>();
  const auto values = fields.Get<uint16_t>();
  if (values > kSketchMax) return std::nullopt;
  fields.GetAll(values, features.sketch.values);
  if (version == kRowVersionWithNumbers) {
    features.numbers.level = fields.Get<uint8_t>();
    const auto numbers = fields.Get<uint8_t>();
    if (numbers > kNumbersMax) return std::nullopt;
    fields.GetAll(numbers, features.numbers.values);
  }
  if (first != version) features.beginning = GetKeptBand(fields);
  if (features.length > LengthClass::kTooShort || features.script > ScriptClass::kDictionary)
    return std::nullopt;
  return fields.Complete() ? std::optional(std::move(item)) : std::nullopt;
}

void EncodeStoredGroup(const StoredGroup& group, std::string& out) {
  out.clear();
  PutLittleEndian(kRowVersion, out);
  PutRef(group.first, out);
  PutText(group.group_id, out);
  PutFound(group.found, group.containment, out);
  PutSimilarity(group.similarity, out);
  PutLittleEndian(static_cast<uint8_t>(group.distance), out);
  PutText(group.moved_from, out);
  PutLittleEndian(static_cast<uint8_t>(group.near.size()), out);
  for (const StoredNear& near : group.near) {
    PutRef(near.item, out);
    PutText(near.near.item_id, out);
    PutFound(near.near.found, near.near.containment, out);
    PutSimilarity(near.near.similarity, out);
    PutLittleEndian(static_cast<uint8_t>(near.near.distance), out);
  }
}

std::optional<StoredGroup> DecodeStoredGroup(std::string_view bytes) {
  FieldReader fields(bytes);
  StoredGroup group;
  if (fields.Get<uint8_t>() != kRowVersion) return std::nullopt;
  group.first = GetRef(fields);
  group.group_id = fields.GetText();
  group.found = GetFound(fields, group.containment);
  group.similarity = GetSimilarity(fields);
  group.distance = fields.Get<uint8_t>();
  group.moved_from = fields.GetText();
  const auto count = fields.Get<uint8_t>();
  if (count > kNearItemsMax || group.found > FoundBy::kNoText) return std::nullopt;
  group.near.resize(count);
  for (StoredNear& near : group.near) {
    near.item = GetRef(fields);
    near.near.item_id = fields.GetText();
    near.near.found = GetFound(fields, near.near.containment);
    near.near.similarity = GetSimilarity(fields);
    near.near.distance = fields.Get<uint8_t>();
    if (near.near.found > FoundBy::kNoText) return std::nullopt;
  }
  return fields.Complete() ? std::optional(std::move(group)) : std::nullopt;
}

void EncodeIndexPosition(const IndexPosition& position, std::string& out) {
  out.clear();
  PutLittleEndian(kRowVersion, out);
  PutLittleEndian(position.next_offset, out);
  PutLittleEndian(position.next_number, out);
  PutLittleEndian(position.index_time.value, out);
  PutLittleEndian(static_cast<uint16_t>(position.items.size()), out);
  for (const auto& [bucket, items] : position.items) {
    PutLittleEndian(bucket, out);
    PutLittleEndian(items, out);
  }
  PutLittleEndian(static_cast<uint32_t>(position.groups_verified.size()), out);
  for (const int64_t offset : position.groups_verified) PutLittleEndian(offset, out);
}

std::string EncodePresenceMark(const IndexPosition& position) {
  std::string mark;
  PutLittleEndian(kRowVersion, mark);
  PutLittleEndian(position.next_offset, mark);
  return mark;
}

std::optional<IndexPosition> DecodeIndexPosition(std::string_view bytes) {
  FieldReader fields(bytes);
  IndexPosition position;
  if (fields.Get<uint8_t>() != kRowVersion) return std::nullopt;
  position.next_offset = fields.Get<int64_t>();
  position.next_number = fields.Get<uint64_t>();
  position.index_time.value = fields.Get<int64_t>();
  const auto count = fields.Get<uint16_t>();
  for (uint16_t i = 0; i < count && fields.ok(); ++i) {
    const auto bucket = fields.Get<int32_t>();
    position.items[bucket] = fields.Get<uint64_t>();
  }
  if (fields.Complete()) return position;  // written before the topic of groups was verified
  fields.GetAll(fields.Get<uint32_t>(), position.groups_verified);
  return fields.Complete() ? std::optional(position) : std::nullopt;
}

}  // namespace seen
