#pragma once
// The changes of the index of items since its last checkpoint: in memory, by key, with the changes of a list
// gathered into one. RocksDB's memtables keep every change in order, and take ten times as long for that.
// Order is needed only once, when a checkpoint writes its files. Not thread-safe: RocksItemIndex locks.

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
    kNone,     // no change: the files have it
    kPut,      // `value` replaces the files' value
    kDeleted,  // the key is deleted
    kMerged,   // a list: `value` comes after the files' list
  };
  struct Found {
    Kind kind = Kind::kNone;
    std::string_view value;  // valid until the next change
  };
  struct Entry {
    std::string key;
    std::string value;
    Kind kind = Kind::kNone;
  };

  void Put(int32_t bucket, std::string_view key, std::string_view value);
  void Delete(int32_t bucket, std::string_view key);
  /// `operand`: as ListOperand returns it. False: the key or the operand isn't a list's.
  [[nodiscard]] bool Merge(int32_t bucket, std::string_view key, std::string_view operand);

  Found Find(int32_t bucket, std::string_view key) const;
  /// The entries of the table of members, ascending by key.
  using Members = std::map<std::string_view, const Entry*>;
  const Members* MembersOf(int32_t bucket) const;

  std::vector<int32_t> Buckets() const;
  /// All entries of a bucket, ascending by key.
  std::vector<const Entry*> Sorted(int32_t bucket) const;
  uint64_t bytes() const { return bytes_; }
  void Clear();

 private:
  struct Bucket {
    std::deque<Entry> entries;    // their addresses don't change
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
