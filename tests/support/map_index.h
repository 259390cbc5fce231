#pragma once
// The index of items as plain maps: the shortest code that does what ItemIndex's comments say. Only a
// checkpoint drops buckets. A copy of the object is a snapshot.

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "similar/groups/item_index_port.h"

namespace seen::test {

class MapIndex final : public ItemIndex {
 public:
  Status Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
              int32_t first_bucket, KnownItem& out) const override {
    out = {};
    for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend() && bucket->first >= first_bucket;
         ++bucket) {
      const Bucket& in = bucket->second;
      if (item_id) {
        const auto found = in.ids.find(std::string(*item_id));
        if (found != in.ids.end() && (!out.item || out.item->number < found->second)) {
          out.item = ItemRef{bucket->first, found->second};
        }
      }
      if (!content_hash || !in.copies.contains(*content_hash)) continue;
      for (const Copy& copy : in.copies.at(*content_hash)) out.copies.push_back(copy);
    }
    return {};
  }

  Status Candidates(const CandidateQuery& query, uint32_t entries_max, CandidateLists& out) const override {
    out.Clear();
    const ItemFeatures& features = *query.features;
    for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend() && bucket->first >= query.first_bucket;
         ++bucket) {
      for (size_t i = 0; i < kCandidateLists; ++i) {
        const bool is_simhash = i < kSimHashTables;
        if (is_simhash ? !query.by_simhash : !query.by_minhash) continue;
        if (i >= kBeginningList && BeginningOf(features, i) == 0) continue;
        const auto found = bucket->second.lists.find(ListOf(features, i));
        if (found == bucket->second.lists.end()) continue;
        const std::vector<ListedSimHash>& list = found->second;
        for (size_t back = 1; back <= list.size(); ++back) {
          const ListedSimHash& listed = list[list.size() - back];
          const size_t has = is_simhash ? out.simhash[i].size() : out.bands[i - kSimHashTables].size();
          out.compared += is_simhash && back <= kListMax ? 1u : 0u;
          if (back > kListMax) {
            ++out.cut;
          } else if (is_simhash && std::popcount(listed.simhash ^ features.simhash) > kNearBits) {
            continue;
          } else if (has == entries_max) {
            ++out.cut;
          } else if (is_simhash) {
            out.simhash[i].push_back(listed);
          } else {
            out.bands[i - kSimHashTables].push_back(listed.item);
          }
        }
        if (is_simhash) {
          SortNewestFirst(out.simhash[i], [](const ListedSimHash& listed) { return listed.item; });
        } else {
          SortNewestFirst(out.bands[i - kSimHashTables], [](const ItemRef& item) { return item; });
        }
      }
    }
    return {};
  }

  Status Items(std::span<const ItemRef> items, std::vector<std::optional<StoredItem>>& out) const override {
    return Rows(&Bucket::items, items, out);
  }
  Status Groups(std::span<const ItemRef> items, std::vector<std::optional<StoredGroup>>& out) const override {
    return Rows(&Bucket::groups, items, out);
  }
  Status Members(ItemRef first, std::vector<ItemRef>& out) const override {
    out.clear();
    const auto bucket = buckets_.find(first.bucket);
    if (bucket == buckets_.end()) return {};
    for (const auto& [of, number, in] : bucket->second.members) {
      if (of == first.number) out.push_back({in, number});
    }
    return {};
  }

  Status Write(const IndexChange& change) override {
    for (const auto& taken : change.taken) {
      Bucket& in = buckets_[taken.item.bucket];
      in.ids.erase(taken.stored.item_id);
      in.items.erase(taken.item.number);
      in.groups.erase(taken.item.number);
      std::erase_if(in.copies[taken.stored.features.content_hash],
                    [&](const Copy& copy) { return copy.item == taken.item; });
    }
    for (const auto& added : change.added) {
      Bucket& in = buckets_[added.item.bucket];
      in.ids[added.stored.item_id] = added.item.number;
      StoredItem& stored = in.items[added.item.number] = added.stored;
      for (uint64_t& band : stored.features.bands) band = KeptBand(band);
      stored.features.beginning = KeptBand(stored.features.beginning);
      stored.features.other_beginnings = {};
      stored.features.cut = false;
      auto& copies = in.copies[added.stored.features.content_hash];
      if (added.has_content && copies.size() < kCopiesMax) {
        copies.push_back({added.item, added.stored.created_at});
      }
    }
    for (const auto& listed : change.listed) {
      auto& lists = buckets_[listed.item.bucket].lists;
      const ListedSimHash entry{listed.features.simhash, listed.item};
      for (size_t i = 0; i < kBeginningList; ++i) lists[ListOf(listed.features, i)].push_back(entry);
      if (const uint64_t beginning = KeptBand(listed.features.beginning); beginning != 0)
        lists[List{kBeginningList, 0, 0, beginning}].push_back(entry);
    }
    for (const auto& [item, group] : change.groups) {
      if (group) {
        buckets_[item.bucket].groups[item.number] = *group;
      } else {
        buckets_[item.bucket].groups.erase(item.number);
      }
    }
    for (const auto& [first, member, joins] : change.memberships) {
      const std::tuple row{first.number, member.number, member.bucket};
      if (joins) {
        buckets_[first.bucket].members.insert(row);
      } else {
        buckets_[first.bucket].members.erase(row);
      }
    }
    return {};
  }

  Status Checkpoint(const IndexPosition& position, int32_t first_bucket) override {
    position_ = position;
    buckets_.erase(buckets_.begin(), buckets_.lower_bound(first_bucket));
    return {};
  }
  Result<std::optional<IndexPosition>> ReadPosition() const override { return position_; }
  uint64_t unsaved_bytes() const override { return 0; }
  uint64_t bytes() const override { return 0; }

 private:
  template <typename List, typename Item>
  static void SortNewestFirst(List& list, Item item_of) {
    std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
      return std::tuple(item_of(a).bucket, item_of(a).number) >
             std::tuple(item_of(b).bucket, item_of(b).number);
    });
  }

  using List = std::tuple<size_t, int, int, uint64_t>;  // which, length, script, block or band
  struct Bucket {
    std::map<std::string, uint64_t> ids;
    std::map<uint64_t, std::vector<Copy>> copies;
    std::map<uint64_t, StoredItem> items;
    std::map<uint64_t, StoredGroup> groups;
    std::set<std::tuple<uint64_t, uint64_t, int32_t>> members;  // first, member, its bucket
    std::map<List, std::vector<ListedSimHash>> lists;
  };

  static constexpr size_t kBeginningList = kSimHashTables + kBands;  // from here on, in any order
  static uint64_t BeginningOf(const ItemFeatures& features, size_t i) {
    std::array<uint64_t, kBandLists - kBands> beginnings = {features.beginning, features.other_beginnings[0],
                                                            features.other_beginnings[1]};
    std::sort(beginnings.begin(), beginnings.end());
    return KeptBand(beginnings[i - kBeginningList]);
  }
  static List ListOf(const ItemFeatures& features, size_t i) {
    if (i >= kBeginningList) return {kBeginningList, 0, 0, BeginningOf(features, i)};
    if (i >= kSimHashTables) return {i, 0, 0, KeptBand(features.bands[i - kSimHashTables])};
    return {i, static_cast<int>(features.length), static_cast<int>(features.script),
            BlockOf(features.simhash, i)};
  }
  template <typename Row>
  Status Rows(std::map<uint64_t, Row> Bucket::*rows, std::span<const ItemRef> items,
              std::vector<std::optional<Row>>& out) const {
    out.assign(items.size(), std::nullopt);
    for (size_t i = 0; i < items.size(); ++i) {
      const auto bucket = buckets_.find(items[i].bucket);
      if (bucket == buckets_.end()) continue;
      const auto row = (bucket->second.*rows).find(items[i].number);
      if (row != (bucket->second.*rows).end()) out[i] = row->second;
    }
    return {};
  }

  std::map<int32_t, Bucket> buckets_;
  std::optional<IndexPosition> position_;
};

}  // namespace seen::test
