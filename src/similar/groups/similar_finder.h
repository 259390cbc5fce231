#pragma once
// Finds the stored items that are similar to an item: its copies, or verified candidates from the lists.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "similar/groups/group_rows.h"
#include "similar/groups/group_rules.h"
#include "similar/groups/item_index_port.h"
#include "similar/port/item_group.h"

namespace seen {

struct ItemMatch {
  ItemRef item;
  Match match;
};

struct FinderCounts {
  uint64_t compared = 0;        // SimHashes in lists that were read
  uint64_t verified = 0;        // candidates
  uint64_t lists_cut = 0;       // entries left out
  uint64_t candidates_cut = 0;  // candidates left out
};

/// One thread; keeps its buffers.
class SimilarFinder {
 public:
  /// `lists`: a buffer of the same thread.
  SimilarFinder(const GroupRules& rules, const ItemIndex& index, CandidateLists& lists)
      : rules_(rules), index_(index), lists_(lists) {}

  /// Finds items that are in the window at `index_time`. `copies`: the items with the same content, as
  /// ItemIndex::Find returns them. If one of them counts, no list is read: the near items of the oldest copy
  /// are the result. `except`: an id that doesn't count. Loads the rows of all found items into `rows`, and
  /// the group of the copied item. Verifies candidates, the likeliest first, until `enough` are similar.
  /// Among many candidates it may miss the nearest.
  Status Find(const ItemFeatures& features, TimeMs index_time, const std::vector<Copy>& copies,
              std::string_view except, size_t enough, GroupRows& rows);

  /// The oldest copy; nullopt: there is none.
  const std::optional<ItemRef>& copied() const { return copied_; }
  /// Nearest first, and the older of equally near items first. Each is stored and in the window. With more
  /// than kNearItemsMax items the list also has farther ones, but not all of their copies.
  const std::vector<ItemMatch>& similar() const { return similar_; }
  const FinderCounts& counts() const { return counts_; }  // of the last Find

 private:
  struct Candidate {
    ItemRef item;
    int bands = 0;
    int distance = 0;
  };
  bool Counts(ItemRef item, const GroupRows& rows) const;
  Status FindAsCopy(const std::vector<Copy>& copies, GroupRows& rows);
  Status FindInLists(const ItemFeatures& features, size_t enough, GroupRows& rows);
  void GatherCandidates(const ItemFeatures& features, size_t enough);
  Status Verify(const ItemFeatures& features, size_t enough, GroupRows& rows);
  Status AddCopies(size_t enough, GroupRows& rows);
  Status AddCopiesOf(const ItemMatch& candidate, GroupRows& rows);
  void Add(ItemRef item, const Match& match);

  const GroupRules& rules_;
  const ItemIndex& index_;
  CandidateLists& lists_;
  TimeMs index_time_;
  std::string_view except_;
  std::optional<ItemRef> copied_;
  std::vector<ItemMatch> similar_;
  FinderCounts counts_;
  std::vector<Candidate> candidates_;
  std::vector<ItemRef> refs_;
  std::vector<ItemMatch> similar_candidates_;  // similar candidates, also those that don't count
  KnownItem known_;
};

/// Answers from the index of items, as of index time. Any thread.
class GroupLookup {
 public:
  GroupLookup(const GroupRules& rules, const ItemIndex& index) : rules_(rules), index_(index) {}

  /// The writer calls it when it has taken an item.
  void SetIndexTime(TimeMs time) { index_time_.store(time.value, std::memory_order_relaxed); }

  Result<std::vector<NearItem>> Similar(const ItemFeatures& features, size_t limit,
                                        std::string_view except) const;
  Result<std::optional<ItemGroup>> Group(std::string_view item_id) const;

 private:
  TimeMs Now() const { return {index_time_.load(std::memory_order_relaxed)}; }

  const GroupRules& rules_;
  const ItemIndex& index_;
  std::atomic<int64_t> index_time_{0};
};

}  // namespace seen
