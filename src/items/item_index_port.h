#pragma once
// The index of items that GroupFlow keeps: in which lists an item stands, what it is, and its group.
// Implemented by store/ over RocksDB, and by plain maps in tests. It decides nothing: what is like what, who
// has expired and whose list a copy stands in is GroupFlow's business.
//
// Items are parted by time into buckets of some days, each dropped whole. Everything of an item stands in its
// bucket. Reads take the first bucket that counts: what earlier ones hold must not change an answer, for when
// they are dropped is no part of the log.
//
// Threads. Writer (one): Write, Checkpoint, unsaved_bytes. Any thread: the rest. The writer reads what it has
// written. A change is seen whole by reads that begin after it; one that lies between two reads may be seen
// by the second only: an item that a list names may be gone.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/bounded_list.h"
#include "group/item_features.h"
#include "model/item_group.h"

namespace seen {

/// An item in the index. Numbers ascend over the whole partition, in the order of the log: the smaller is the
/// older. Below 2^40.
struct ItemRef {
  int32_t bucket = 0;
  uint64_t number = 0;
  friend bool operator==(const ItemRef&, const ItemRef&) = default;
};

inline constexpr size_t kSimHashTables = 4;  // of 16-bit blocks: a pair within 3 bits agrees in one of them
inline constexpr size_t kCandidateLists = kSimHashTables + kBands;
inline constexpr int kNearBits = 3;         // SimHashes that are near, at most
inline constexpr uint32_t kListMax = 1024;  // entries of a list, in a bucket: the newest are kept
inline constexpr size_t kCopiesMax = 1024;  // of a content, in a bucket, that are known as copies: the oldest

/// The block of a SimHash that a table goes by.
constexpr uint16_t BlockOf(uint64_t simhash, size_t table) {
  return static_cast<uint16_t>(simhash >> (48 - 16 * table));
}
/// As much of a band's hash as is kept and compared: the upper 48 bits.
constexpr uint64_t KeptBand(uint64_t band) { return band & ~uint64_t{0xffff}; }

/// What doesn't change while the item is stored. `features`: bands as KeptBand has them, `cut` isn't kept.
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

/// What changes. An item without one is alone: the first of its group, like nothing.
struct StoredGroup {
  ItemRef first;
  std::string group_id;
  FoundBy found = FoundBy::kFirst;
  std::optional<double> similarity;  // in steps of 0.0001
  int distance = 0;
  std::vector<StoredNear> near;  // at most kNearItemsMax
  std::string moved_from;
  friend bool operator==(const StoredGroup&, const StoredGroup&) = default;
};

struct Copy {
  ItemRef item;
  TimeMs created_at;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// Whether an item is known, and its content.
struct KnownItem {
  std::optional<ItemRef> item;  // the newest of that id
  std::vector<Copy> copies;     // items of that content: by bucket, then number; at most kCopiesMax a bucket
};

struct ListedSimHash {
  uint64_t simhash = 0;
  ItemRef item;
};

/// Of each list the `entries_max` (at most kListMax) that were listed last in the newest buckets; of a
/// SimHash list, of those within kNearBits. Newest bucket first, in it the greatest number. A third of a
/// megabyte: made once a thread.
struct CandidateLists {
  std::array<BoundedList<ListedSimHash, kListMax>, kSimHashTables> simhash;
  std::array<BoundedList<ItemRef, kListMax>, kBands> bands;
  /// Rows that were read on the way; nullopt: it was taken out.
  std::vector<std::pair<ItemRef, std::optional<StoredItem>>> items;
  uint64_t compared = 0;  // SimHashes, of lists that may have near ones
  uint64_t cut = 0;       // known to be left out: entries of lists that were read, and lists

  void Clear();
};

inline void CandidateLists::Clear() {
  for (auto& list : simhash) list.clear();
  for (auto& list : bands) list.clear();
  items.clear();
  compared = cut = 0;
}

/// Where to look: SimHash lists are apart for each length and script class.
struct CandidateQuery {
  const ItemFeatures* features = nullptr;
  bool by_simhash = true;
  bool by_minhash = true;
  int32_t first_bucket = 0;
};

/// One item's worth of changes, made at once, in the order of the members.
struct IndexChange {
  struct Taken {
    ItemRef item;
    StoredItem stored;
  };
  struct Added {
    ItemRef item;
    StoredItem stored;
    bool has_content = true;  // it stands among the copies of its content
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
  std::vector<Taken> taken;  // with what they hold; not from candidate lists: their numbers lead nowhere
  std::vector<Added> added;
  std::vector<Listed> listed;  // in the candidate lists: an item once
  std::vector<Grouped> groups;
  std::vector<Membership> memberships;

  bool empty() const {
    return taken.empty() && added.empty() && listed.empty() && groups.empty() && memberships.empty();
  }
};

/// What GroupFlow needs to go on; stored with what it is of.
struct IndexPosition {
  int64_t next_offset = 0;            // of the log: the effect of all records below it is in the index
  uint64_t next_number = 0;           // of an item
  TimeMs index_time;                  // the greatest time of an item; 0: none was read
  std::map<int32_t, uint64_t> items;  // how many are stored, by bucket
  // Of the topic of groups, by partition: what stood below was right when this was stored (group_guard.h).
  std::vector<int64_t> groups_verified = {};
  friend bool operator==(const IndexPosition&, const IndexPosition&) = default;
};

class ItemIndex {
 public:
  virtual ~ItemIndex() = default;

  /// Of what isn't asked (nullopt) nothing is answered.
  virtual Status Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
                      int32_t first_bucket, KnownItem& out) const = 0;
  virtual Status Candidates(const CandidateQuery& query, uint32_t entries_max, CandidateLists& out) const = 0;
  /// nullopt where there is none: in the order of `items`.
  virtual Status Items(std::span<const ItemRef> items, std::vector<std::optional<StoredItem>>& out) const = 0;
  virtual Status Groups(std::span<const ItemRef> items,
                        std::vector<std::optional<StoredGroup>>& out) const = 0;
  /// Those that joined and didn't leave, without the first itself; by number.
  virtual Status Members(ItemRef first, std::vector<ItemRef>& out) const = 0;

  /// All or nothing. kUnavailable, kNoSpace: the disk failed; from then on nothing is taken: the index is
  /// opened again, at its last checkpoint.
  virtual Status Write(const IndexChange& change) = 0;
  /// Makes all that was written durable, and drops the buckets before `first_bucket`. Where that fails, or a
  /// crash comes, all of it is durable or nothing.
  virtual Status Checkpoint(const IndexPosition& position, int32_t first_bucket) = 0;
  /// Of the last checkpoint; nullopt: there was none.
  virtual Result<std::optional<IndexPosition>> ReadPosition() const = 0;
  /// In memory only, about.
  virtual uint64_t unsaved_bytes() const = 0;
  /// On disk, about.
  virtual uint64_t bytes() const = 0;
};

}  // namespace seen
