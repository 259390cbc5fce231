#pragma once
// The index of items that GroupFlow keeps: the lists that an item is in, its features, and its group.
// Implemented by item_store/ over RocksDB, and by plain maps in tests. The index decides nothing. GroupFlow
// decides which items are similar, which have expired, and which copy is in the lists.
//
// The index divides items by time into buckets of some days, and drops each bucket as a whole. All rows of an
// item are in its bucket. Reads take the first bucket that counts. Earlier buckets must not change an answer,
// because the log doesn't say when they are dropped.
//
// Threads. Writer (one): Write, Checkpoint, unsaved_bytes. Any thread: the rest. The writer reads what it has
// written. A read that begins after a change sees all of it. If a change comes between two reads, only the
// second may see it: an item that a list names may be gone.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "similar/port/item_group.h"
#include "similar/port/options.h"
#include "similar/text/feature_reader.h"
#include "similar/text/item_features.h"

namespace seen {

/// An item in the index. Numbers ascend over the whole partition, in the order of the log: the smaller number
/// is the older item. Below 2^40.
struct ItemRef {
  int32_t bucket = 0;
  uint64_t number = 0;
  friend bool operator==(const ItemRef&, const ItemRef&) = default;
};

inline constexpr size_t kSimHashTables = 4;  // of 16-bit blocks: a pair within 3 bits agrees in one of them
/// The lists of MinHash: those of the bands, that of the text's own beginning, and those of the other two.
inline constexpr size_t kBandLists = kBands + 3;
inline constexpr size_t kCandidateLists = kSimHashTables + kBandLists;
inline constexpr int kNearBits = 3;         // the most bits by which near SimHashes differ
inline constexpr uint32_t kListMax = 1024;  // entries of a list in one bucket: the newest are kept
inline constexpr size_t kCopiesMax = 1024;  // copies of a content that one bucket knows: the oldest

/// The block of a SimHash that selects the list in `table`.
constexpr uint16_t BlockOf(uint64_t simhash, size_t table) {
  return static_cast<uint16_t>(simhash >> (48 - 16 * table));
}
/// The part of a band's hash that is kept and compared: the upper 48 bits.
constexpr uint64_t KeptBand(uint64_t band) { return band & ~uint64_t{0xffff}; }

/// The part of an item that doesn't change while it is stored. `features`: bands and the
/// beginning are as KeptBand returns them; `cut` and other_beginnings aren't kept.
struct StoredItem {
  std::string item_id;
  TimeMs created_at;  // 0 to 2^48 ms
  ItemFeatures features;
};

struct StoredNear {
  ItemRef item;
  NearItem near;
  friend bool operator==(const StoredNear&, const StoredNear&) = default;
};

/// The part that changes. An item without a StoredGroup is alone: the first of its group, and near no item.
struct StoredGroup {
  ItemRef first;
  std::string group_id;
  FoundBy found = FoundBy::kFirst;
  std::optional<double> similarity;  // in steps of 0.0001
  int distance = 0;
  std::vector<StoredNear> near;  // at most kNearItemsMax
  std::string moved_from;
  std::optional<double> containment = std::nullopt;  // in steps of 0.0001
  friend bool operator==(const StoredGroup&, const StoredGroup&) = default;
};

struct Copy {
  ItemRef item;
  TimeMs created_at;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// The item of an id, and the items of a content, as far as stored.
struct KnownItem {
  std::optional<ItemRef> item;  // the newest of that id
  std::vector<Copy> copies;     // items of that content: by bucket, then number; at most kCopiesMax a bucket
};

struct ListedSimHash {
  uint64_t simhash = 0;
  ItemRef item;
};

/// A list of at most kMax entries, in memory that is allocated once. It clears nothing, and doesn't check for
/// room at each entry. Not copyable.
template <typename Entry, size_t kMax>
class BoundedList {
 public:
  size_t size() const { return size_; }
  void clear() { size_ = 0; }
  /// There must be space.
  void push_back(const Entry& entry) { entries_[size_++] = entry; }
  const Entry& operator[](size_t i) const { return entries_[i]; }
  Entry* begin() { return entries_.get(); }
  Entry* end() { return entries_.get() + size_; }
  const Entry* begin() const { return entries_.get(); }
  const Entry* end() const { return entries_.get() + size_; }
  template <typename Condition>
  void erase_if(Condition condition) {
    size_ = static_cast<size_t>(std::remove_if(begin(), end(), condition) - begin());
  }

 private:
  std::unique_ptr<Entry[]> entries_ = std::make_unique<Entry[]>(kMax);
  size_t size_ = 0;
};

/// Each list has up to `entries_max` (at most kListMax) entries: those listed last, in the newest buckets. A
/// SimHash list has only entries within kNearBits. The newest bucket comes first, and within a bucket the
/// greatest number. About 280 KB: make one per thread.
struct CandidateLists {
  std::array<BoundedList<ListedSimHash, kListMax>, kSimHashTables> simhash;
  std::array<BoundedList<ItemRef, kListMax>, kBandLists> bands;
  /// Rows that were read on the way; nullopt: the item was taken out.
  std::vector<std::pair<ItemRef, std::optional<StoredItem>>> items;
  uint64_t compared = 0;  // SimHashes in lists that may have near ones
  uint64_t cut = 0;       // entries that lists no longer keep, and 1 for each list beyond `entries_max`

  void Clear();
};

inline void CandidateLists::Clear() {
  for (auto& list : simhash) list.clear();
  for (auto& list : bands) list.clear();
  items.clear();
  compared = cut = 0;
}

/// Selects the lists to read. Each length and script class has its own SimHash lists.
struct CandidateQuery {
  const ItemFeatures* features = nullptr;
  bool by_simhash = true;
  bool by_minhash = true;
  int32_t first_bucket = 0;
};

/// The changes for one item, made at once, in the order of the members.
struct IndexChange {
  struct Taken {
    ItemRef item;
    StoredItem stored;
  };
  struct Added {
    ItemRef item;
    StoredItem stored;
    bool has_content = true;  // it is among the copies of its content
  };
  struct Listed {
    ItemRef item;
    ItemFeatures features;
  };
  struct Grouped {
    ItemRef item;
    std::optional<StoredGroup> group;  // nullopt: it is alone
  };
  struct Membership {
    ItemRef first;
    ItemRef member;
    bool joins = true;
  };
  std::vector<Taken> taken;  // with their rows; candidate lists keep their numbers, which lead nowhere
  std::vector<Added> added;
  std::vector<Listed> listed;  // into the candidate lists; each item once
  std::vector<Grouped> groups;
  std::vector<Membership> memberships;

  bool empty() const {
    return taken.empty() && added.empty() && listed.empty() && groups.empty() && memberships.empty();
  }
};

/// What GroupFlow needs to resume. It is stored together with the index.
struct IndexPosition {
  int64_t next_offset = 0;            // of the log: the index has the effect of all records below it
  uint64_t next_number = 0;           // of the next item
  TimeMs index_time;                  // the greatest time of an item; 0: no item was read
  std::map<int32_t, uint64_t> items;  // how many are stored, by bucket
  // By partition of the topic of groups: records below it were right when this was stored (group_guard.h).
  std::vector<int64_t> groups_verified = {};
  friend bool operator==(const IndexPosition&, const IndexPosition&) = default;
};

class ItemIndex {
 public:
  virtual ~ItemIndex() = default;

  /// nullopt: it isn't asked, and `out` has nothing of it.
  virtual Status Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
                      int32_t first_bucket, KnownItem& out) const = 0;
  virtual Status Candidates(const CandidateQuery& query, uint32_t entries_max, CandidateLists& out) const = 0;
  /// `out` is in the order of `items`; nullopt: there is no row.
  virtual Status Items(std::span<const ItemRef> items, std::vector<std::optional<StoredItem>>& out) const = 0;
  virtual Status Groups(std::span<const ItemRef> items,
                        std::vector<std::optional<StoredGroup>>& out) const = 0;
  /// The items that joined the group of `first` and didn't leave, by number; without `first` itself.
  virtual Status Members(ItemRef first, std::vector<ItemRef>& out) const = 0;

  /// All or nothing. kUnavailable, kNoSpace: the disk failed. Then the index takes nothing more: open it
  /// again, at its last checkpoint.
  virtual Status Write(const IndexChange& change) = 0;
  /// Makes all changes durable, and drops the buckets before `first_bucket`. After an error or a crash either
  /// all of it is durable or nothing.
  virtual Status Checkpoint(const IndexPosition& position, int32_t first_bucket) = 0;
  /// The position of the last checkpoint; nullopt: there was none.
  virtual Result<std::optional<IndexPosition>> ReadPosition() const = 0;
  /// Bytes that are in memory only, approximately.
  virtual uint64_t unsaved_bytes() const = 0;
  /// Bytes on disk, approximately.
  virtual uint64_t bytes() const = 0;
};

/// Where the indexes of items are kept: one per partition. Implemented by item_store/, and by tests.
/// One thread at a time.
class ItemIndexes {
 public:
  virtual ~ItemIndexes() = default;
  struct Opened {
    std::unique_ptr<ItemIndex> index;
    FeatureOptions features;  // how the index's items were read: read new ones the same way
    SimilarMethod method = SimilarMethod::kBoth;  // the index has this method's lists
    double containment_min = 0;                   // GroupOptions has it
  };
  /// Creates the index if it is missing. kRefused: it was built for something else. kCorrupt. kUnavailable,
  /// kNoSpace: try again.
  virtual Result<Opened> Open(int32_t partition) = 0;
  /// Removes the index, which must not be open.
  virtual Status Remove(int32_t partition) = 0;
  virtual std::string PathOf(int32_t partition) const = 0;  // for people
};

}  // namespace seen
