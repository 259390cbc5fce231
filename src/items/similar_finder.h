#pragma once
// What is stored that is like an item: copies of it, or candidates of the lists, verified.

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "items/group_rows.h"
#include "items/group_rules.h"

namespace seen {

struct SimilarItem {
  ItemRef item;
  Likeness likeness;
};

struct FinderCounts {
  uint64_t compared = 0;        // SimHashes in lists looked at
  uint64_t verified = 0;        // candidates
  uint64_t lists_cut = 0;       // entries left out
  uint64_t candidates_cut = 0;  // candidates left out
};

/// One thread's; keeps its buffers.
class SimilarFinder {
 public:
  /// `lists`: a buffer, of this thread too.
  SimilarFinder(const GroupRules& rules, const ItemIndex& index, CandidateLists& lists)
      : rules_(rules), index_(index), lists_(lists) {}

  /// Items that are in the window at `index_time`. `copies`: of its content, as Find answers; where one of
  /// them counts, no list is looked at, and what is like the oldest is like it. `except`: an id that doesn't
  /// count. Rows of all that is found are loaded into `rows`, and the group of what it is a copy of.
  /// Candidates are verified, the likeliest first, until `enough` are like it: among many the nearest may be
  /// missed.
  Status Find(const ItemFeatures& features, TimeMs index_time, const std::vector<Copy>& copies,
              std::string_view except, size_t enough, GroupRows& rows);

  /// The oldest copy; nullopt: it is no copy.
  const std::optional<ItemRef>& copied() const { return copied_; }
  /// Nearest first, of the equally near the older one; each is there and in the window. Of more than
  /// kNearItemsMax also farther ones, though not all copies of them.
  const std::vector<SimilarItem>& similar() const { return similar_; }
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
  Status AddCopiesOf(const SimilarItem& alike, GroupRows& rows);
  void Add(ItemRef item, const Likeness& likeness);

  const GroupRules& rules_;
  const ItemIndex& index_;
  CandidateLists& lists_;
  TimeMs index_time_;
  std::string_view except_;
  std::optional<ItemRef> copied_;
  std::vector<SimilarItem> similar_;
  FinderCounts counts_;
  std::vector<Candidate> candidates_;
  std::vector<ItemRef> refs_;
  std::vector<SimilarItem> alike_;  // candidates that are alike, gone ones too
  KnownItem known_;
};

}  // namespace seen
