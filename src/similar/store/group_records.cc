#include "similar/store/group_records.h"

#include <algorithm>

#include "base/byte_codec.h"

namespace seen::group_rows {
namespace {

std::string KeyOf(Table table) { return {static_cast<char>(table)}; }

}  // namespace

std::string DescriptorKey() { return KeyOf(Table::kDescriptor); }

std::string DescriptorOf(std::string_view cluster, std::string_view topic, int32_t partitions) {
  std::string value{kFormat};
  PutText(cluster, value);
  PutText(topic, value);
  PutLittleEndian(partitions, value);
  return value;
}

std::string PositionKey(int32_t partition) {
  std::string key = KeyOf(Table::kPosition);
  PutBigEndian(static_cast<uint32_t>(partition), 4, key);
  return key;
}

std::string RecordKey(Fingerprint item, std::string_view item_id) {
  std::string key = KeyOf(Table::kRecord);
  PutBigEndian(item.value, 4, key);
  return key.append(item_id);
}

std::string SimilarListKey(Fingerprint item) {
  std::string key = KeyOf(Table::kSimilarLists);
  PutBigEndian(item.value, 4, key);
  return key;
}

std::string MemberPrefix(std::string_view group_id) {
  std::string key = KeyOf(Table::kMember);
  PutBigEndian(FingerprintOf(group_id).value, 4, key);
  PutText(group_id, key);
  return key;
}

bool LeavesWithWindow(std::string_view key) {
  return !key.empty() && static_cast<unsigned char>(key[0]) >= static_cast<unsigned char>(Table::kRecord);
}

std::optional<TimeMs> TimeOf(std::string_view value) {
  if (value.size() < sizeof(int64_t)) return std::nullopt;
  return TimeMs{FieldReader(value).Get<int64_t>()};
}

std::string EncodePosition(const Position& position) {
  std::string value{kFormat};
  PutLittleEndian(position.next_offset, value);
  PutLittleEndian(position.anchor_offset, value);
  PutLittleEndian(position.anchor_timestamp.value, value);
  PutLittleEndian(position.anchor_hash, value);
  PutLittleEndian(position.newest.value, value);
  return value;
}

std::optional<Position> DecodePosition(std::string_view value) {
  FieldReader reader(value);
  if (reader.Get<uint8_t>() != kFormat) return std::nullopt;
  Position position;
  position.next_offset = reader.Get<int64_t>();
  position.anchor_offset = reader.Get<int64_t>();
  position.anchor_timestamp.value = reader.Get<int64_t>();
  position.anchor_hash = reader.Get<uint64_t>();
  position.newest.value = reader.Get<int64_t>();
  if (!reader.Complete()) return std::nullopt;
  return position;
}

std::string MemberValue(TimeMs time) {
  std::string value;
  PutLittleEndian(time.value, value);
  return value;
}

std::string RecordValue(TimeMs time, const ItemGroup& group, std::string_view json) {
  std::string value = MemberValue(time);
  PutText(group.group_id, value);
  return value.append(json);
}

std::optional<RecordView> ParseRecord(std::string_view value) {
  constexpr size_t kFixed = sizeof(int64_t) + sizeof(uint16_t);
  if (value.size() < kFixed) return std::nullopt;
  FieldReader reader(value);
  RecordView view;
  view.time.value = reader.Get<int64_t>();
  const size_t length = reader.Get<uint16_t>();
  if (value.size() < kFixed + length) return std::nullopt;
  view.group_id = value.substr(kFixed, length);
  view.json = value.substr(kFixed + length);
  return view;
}

std::string SimilarListValue(TimeMs time, const ItemGroup& group) {
  std::string value = MemberValue(time);
  PutLittleEndian(CheckOf(group.item_id), value);
  PutLittleEndian(FingerprintOf(group.group_id).value, value);
  for (size_t i = 0; i < std::min(group.near.size(), kNearItemsMax); ++i) {
    PutLittleEndian(FingerprintOf(group.near[i].item_id).value, value);
  }
  return value;
}

std::optional<SimilarListView> ParseSimilarList(std::string_view value) {
  constexpr size_t kFixed = sizeof(int64_t) + sizeof(uint32_t);
  if (value.size() < kFixed || (value.size() - kFixed) % sizeof(uint32_t) != 0) return std::nullopt;
  if (value.size() > kFixed + (kNearItemsMax + 1) * sizeof(uint32_t)) return std::nullopt;
  SimilarListView view;
  view.check = FieldReader(value.substr(sizeof(int64_t))).Get<uint32_t>();
  view.fingerprints = value.substr(kFixed);
  return view;
}

Fingerprint SimilarListView::at(size_t i) const {
  return {FieldReader(fingerprints.substr(i * sizeof(uint32_t))).Get<uint32_t>()};
}

uint32_t CheckOf(std::string_view item_id) { return static_cast<uint32_t>(RecordHash({}, item_id)); }

}  // namespace seen::group_rows
