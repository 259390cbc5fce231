#pragma once
// Finds the items in the lists of a text. Lists are scattered over the files, and each costs a read. So the
// lister skips a list if it knows all of its items from another list already. An item's row, which is needed
// anyway, says in which lists the item is. One lister per thread: it keeps its buffers.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "similar/store/item_index_reader.h"

namespace seen {

class CandidateLister {
 public:
  /// See ItemIndex::Candidates. Works bucket by bucket.
  Status List(const ItemIndexReader& reader, const CandidateQuery& query, uint32_t entries_max,
              CandidateLists& out);

 private:
  using ListHashes = ItemPresence::ListHashes;
  static constexpr size_t kHashes = std::tuple_size_v<ListHashes>;
  struct Known {
    ItemRef item;
    uint64_t simhash = 0;
    ListHashes hashes;
  };
  /// `place`: in ListHashes.
  bool IsIn(const Known& known, size_t place) const {
    return hashes_[place] != 0 && known.hashes[ItemPresence::ListedPlace(place)] == hashes_[place];
  }
  void Begin(const CandidateQuery& query);
  Status ListBucket(const ItemIndexReader& reader, const BucketFamily& family);
  void Count(const ItemPresence& presence);
  bool IsNeeded(size_t list) const;
  bool HasMany(size_t list) const;
  void Request();
  std::optional<size_t> WantOneOfFew();
  Status ReadWanted(const ItemIndexReader& reader, const BucketFamily& family);
  bool Append(size_t list, const ListView& view);
  Status ReadItemsOf(const ItemIndexReader& reader, const BucketFamily& family, size_t list);
  void AppendKnown(size_t list);
  size_t SizeOf(size_t list) const {
    return list < kSimHashTables ? out_->simhash[list].size() : out_->bands[list - kSimHashTables].size();
  }

  CandidateLists* out_ = nullptr;
  size_t entries_max_ = 0;
  uint64_t simhash_ = 0;
  ListHashes hashes_{};
  size_t begin_ = 0, end_ = 0;  // the lists that the query asks for
  ItemPointReads lists_, rows_;

  // State of the current bucket:
  int32_t bucket_ = 0;
  std::array<unsigned, kHashes> unknown_{};  // by hash: items not yet known; kCountMax: any number
  std::array<bool, kCandidateLists> done_{};
  std::vector<Known> known_;
};

}  // namespace seen
