#include "items/group_lookup.h"

#include "items/group_rows.h"
#include "items/similar_finder.h"

namespace seen {

Result<std::vector<NearItem>> GroupLookup::Similar(const ItemFeatures& features, size_t limit,
                                                   std::string_view except) const {
  GroupRows rows(index_);
  thread_local CandidateLists lists;
  SimilarFinder finder(rules_, index_, lists);
  const TimeMs now = Now();
  KnownItem known;
  Status done = index_.Find(std::nullopt, features.content_hash, rules_.FirstBucket(now), known);
  if (done) done = finder.Find(features, now, known.copies, except, limit, rows);
  if (!done) return Fail(done.error());
  std::vector<NearItem> near;
  for (const SimilarItem& similar : finder.similar()) {
    if (near.size() == limit) break;
    near.push_back({rows.Item(similar.item)->item_id, similar.likeness.similarity, similar.likeness.distance,
                    similar.likeness.found});
  }
  return near;
}

Result<std::optional<ItemGroup>> GroupLookup::Group(std::string_view item_id) const {
  const TimeMs now = Now();
  KnownItem known;
  if (Status found = index_.Find(item_id, std::nullopt, rules_.FirstBucket(now), known); !found) {
    return Fail(found.error());
  }
  if (!known.item) return std::optional<ItemGroup>{};
  GroupRows rows(index_);
  Status loaded = rows.LoadItems({&*known.item, 1});
  if (loaded) loaded = rows.LoadGroups({&*known.item, 1});
  if (!loaded) return Fail(loaded.error());
  const StoredItem* item = rows.Item(*known.item);
  if (item == nullptr || rules_.IsGone(item->created_at, now)) return std::optional<ItemGroup>{};
  return std::optional<ItemGroup>(ToItemGroup(*item, rows.Group(*known.item)));
}

}  // namespace seen
