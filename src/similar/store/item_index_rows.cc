#include "similar/store/item_index_rows.h"

#include <cmath>

#include "base/byte_codec.h"
#include "similar/store/item_index_keys.h"

namespace seen {
namespace {

constexpr uint8_t kRowVersion = 1;
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

}  // namespace

void EncodeStoredItem(const StoredItem& item, std::string& out) {
  const ItemFeatures& features = item.features;
  out.clear();
  PutLittleEndian(kRowVersion, out);
  PutText(item.item_id, out);
  PutLittleEndian(item.created_at.value, out);
  PutLittleEndian(static_cast<uint8_t>(features.length), out);
  PutLittleEndian(static_cast<uint8_t>(features.script), out);
  PutLittleEndian(features.words, out);
  PutLittleEndian(features.content_hash, out);
  PutLittleEndian(features.simhash, out);
  for (const uint64_t band : features.bands) {
    PutLittleEndian(static_cast<uint32_t>(band >> 16), out);
    PutLittleEndian(static_cast<uint16_t>(band >> 48), out);
  }
  PutLittleEndian(features.sketch.level, out);
  PutLittleEndian(static_cast<uint16_t>(features.sketch.values.size()), out);
  PutAll(features.sketch.values, out);
}

std::optional<StoredItem> DecodeStoredItem(std::string_view bytes) {
  FieldReader fields(bytes);
  StoredItem item;
  ItemFeatures& features = item.features;
  if (fields.Get<uint8_t>() != kRowVersion) return std::nullopt;
  item.item_id = fields.GetText();
  item.created_at.value = fields.Get<int64_t>();
  features.length = static_cast<LengthClass>(fields.Get<uint8_t>());
  features.script = static_cast<ScriptClass>(fields.Get<uint8_t>());
  features.words = fields.Get<uint32_t>();
  features.content_hash = fields.Get<uint64_t>();
  features.simhash = fields.Get<uint64_t>();
  for (uint64_t& band : features.bands) {
    band = static_cast<uint64_t>(fields.Get<uint32_t>()) << 16;
    band |= static_cast<uint64_t>(fields.Get<uint16_t>()) << 48;
  }
  features.sketch.level = fields.Get<uint8_t>();
  const auto values = fields.Get<uint16_t>();
  if (values > kSketchMax) return std::nullopt;
  fields.GetAll(values, features.sketch.values);
  if (features.length > LengthClass::kLong || features.script > ScriptClass::kDictionary) return std::nullopt;
  return fields.Complete() ? std::optional(std::move(item)) : std::nullopt;
}

void EncodeStoredGroup(const StoredGroup& group, std::string& out) {
  out.clear();
  PutLittleEndian(kRowVersion, out);
  PutRef(group.first, out);
  PutText(group.group_id, out);
  PutLittleEndian(static_cast<uint8_t>(group.found), out);
  PutSimilarity(group.similarity, out);
  PutLittleEndian(static_cast<uint8_t>(group.distance), out);
  PutText(group.moved_from, out);
  PutLittleEndian(static_cast<uint8_t>(group.near.size()), out);
  for (const StoredNear& near : group.near) {
    PutRef(near.item, out);
    PutText(near.near.item_id, out);
    PutLittleEndian(static_cast<uint8_t>(near.near.found), out);
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
  group.found = static_cast<FoundBy>(fields.Get<uint8_t>());
  group.similarity = GetSimilarity(fields);
  group.distance = fields.Get<uint8_t>();
  group.moved_from = fields.GetText();
  const auto count = fields.Get<uint8_t>();
  if (count > kNearItemsMax || group.found > FoundBy::kNoText) return std::nullopt;
  group.near.resize(count);
  for (StoredNear& near : group.near) {
    near.item = GetRef(fields);
    near.near.item_id = fields.GetText();
    near.near.found = static_cast<FoundBy>(fields.Get<uint8_t>());
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
