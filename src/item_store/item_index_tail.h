#pragma once
// What was written to the index of items since its last checkpoint: by key, in memory, with the changes of a
// list gathered into one. RocksDB's memtables keep every change in order and take ten times as long for it;
// order is needed once, when a checkpoint writes its files. Not thread-safe: RocksItemIndex locks.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

class ItemIndexTail {
 public:
  enum class Kind : uint8_t {
    kNone,     // nothing was written: it is as the files have it
    kPut,      // `value` is all
    kDeleted,  // there is nothing
    kMerged,   // a list: `value` comes behind what the files have
  };
  struct Found {
    Kind kind = Kind::kNone;
    std::string_view value;  // until the next change
  };
  struct Entry {
    std::string key;
    std::string value;
    Kind kind = Kind::kNone;
  };

  void Put(int32_t bucket, std::string_view key, std::string_view value);
  void Delete(int32_t bucket, std::string_view key);
  /// `operand`: as ListOperand makes it. False: key or operand is none of a list.
  [[nodiscard]] bool Merge(int32_t bucket, std::string_view key, std::string_view operand);

  Found Find(int32_t bucket, std::string_view key) const;
  /// Those of the table of members, ascending by key.
  using Members = std::map<std::string_view, const Entry*>;
  const Members* MembersOf(int32_t bucket) const;

  std::vector<int32_t> Buckets() const;
  /// All of a bucket, by key.
  std::vector<const Entry*> Sorted(int32_t bucket) const;
  uint64_t bytes() const { return bytes_; }
  void Clear();

 private:
  struct Bucket {
    std::deque<Entry> entries;    // where they are they stay
    std::vector<uint64_t> cells;  // upper half of the hash, then the entry's place plus one; 0: free
    Members members;
  };
  Entry& At(int32_t bucket, std::string_view key);
  static void Grow(Bucket& bucket);
  void Set(int32_t bucket, std::string_view key, std::string_view value, Kind kind);

  std::map<int32_t, Bucket> buckets_;
  uint64_t bytes_ = 0;
};

}  // namespace seen
