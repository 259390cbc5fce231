#pragma once
// Groups in a map, as the topic's records have them.

#include <map>
#include <set>
#include <string>

#include "model/hashes.h"
#include "similar/port/item_groups.h"

namespace seen {

class FakeItemGroups : public ItemGroups {
 public:
  /// Puts `item` into `group`. Makes `item` and each of `near` near items of each other.
  void Put(const std::string& item, const std::string& group, const std::vector<std::string>& near) {
    ItemGroup& record = RecordOf(item);
    record.group_id = group;
    record.similarity = group == item ? 1 : 0.85;
    for (const std::string& other : near) {
      AddNear(record, other);
      AddNear(RecordOf(other), item);
    }
  }
  /// Doesn't add the item to the lists of its near items.
  void PutAlone(const ItemGroup& record) { records_[record.item_id] = record; }
  void Remove(const std::string& item) { records_.erase(item); }

  bool AppendGroupAndNear(Fingerprint item, std::vector<Fingerprint>& out) const override {
    const ItemGroup* record = RecordWith(item);
    if (record == nullptr || record->IsAlone()) return false;
    out.push_back(FingerprintOf(record->group_id));
    for (const NearItem& near : record->near) out.push_back(FingerprintOf(near.item_id));
    return true;
  }
  void AppendSimilar(Fingerprint item, std::vector<Fingerprint>& out) const override {
    const ItemGroup* record = RecordWith(item);
    if (record == nullptr || record->IsAlone()) return;
    for (const NearItem& near : record->near) out.push_back(NearFingerprintOf(FingerprintOf(near.item_id)));
    out.push_back(GroupFingerprintOf(FingerprintOf(record->group_id)));
  }
  Result<std::optional<ItemGroup>> Find(std::string_view item_id) const override {
    ++finds;
    if (broken) return Fail(Code::kUnavailable, "the disk is broken");
    const auto found = records_.find(item_id);
    return found == records_.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::vector<std::string>> Members(std::string_view group_id, std::string_view after,
                                           size_t limit) const override {
    ++scans;
    std::vector<std::string> members;
    for (const auto& [id, record] : records_) {
      if (record.group_id == group_id && id > after && members.size() < limit) members.push_back(id);
    }
    return members;
  }

  bool broken = false;
  mutable size_t finds = 0, scans = 0;

 private:
  ItemGroup& RecordOf(const std::string& item) {
    const auto [record, is_new] = records_.try_emplace(item);
    if (is_new) {
      record->second.item_id = record->second.group_id = item;
      record->second.similarity = 1;
    }
    return record->second;
  }
  static void AddNear(ItemGroup& record, const std::string& other) {
    if (record.near.size() < kNearItemsMax) record.near.push_back({other, 0.9, 3, FoundBy::kBoth});
  }
  const ItemGroup* RecordWith(Fingerprint item) const {
    for (const auto& [id, record] : records_) {
      if (FingerprintOf(id) == item) return &record;
    }
    return nullptr;
  }

  std::map<std::string, ItemGroup, std::less<>> records_;
};

}  // namespace seen
