#include "similar/store/item_index_tail.h"

#include <algorithm>
#include <functional>

#include "similar/store/item_index_families.h"
#include "similar/store/item_index_rows.h"

namespace seen {
namespace {

constexpr size_t kCellsMin = 1024;
constexpr uint64_t kEntryBytes = sizeof(ItemIndexTail::Entry) + 2 * sizeof(uint64_t);
constexpr size_t kInPlace = 15;  // characters that a std::string stores without heap memory

uint64_t HashOf(std::string_view key) { return std::hash<std::string_view>{}(key); }
uint64_t HeapBytes(const std::string& text) { return text.size() > kInPlace ? text.capacity() + 1 : 0; }
// The first eight bytes as a number, in the order of keys. A shorter key is padded with zeros, so a longer
// key with the same prefix must sort behind it by the whole key.
uint64_t PrefixOf(std::string_view key) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < sizeof prefix; ++i) {
    prefix = prefix << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0u);
  }
  return prefix;
}
bool IsMember(std::string_view key) {
  return !key.empty() &&
         static_cast<unsigned char>(key[0]) == static_cast<unsigned char>(ItemTable::kMembers);
}

}  // namespace

void ItemIndexTail::Put(int32_t bucket, std::string_view key, std::string_view value) {
  Set(bucket, key, value, Kind::kPut);
}

void ItemIndexTail::Delete(int32_t bucket, std::string_view key) { Set(bucket, key, {}, Kind::kDeleted); }

void ItemIndexTail::Set(int32_t bucket, std::string_view key, std::string_view value, Kind kind) {
  Entry& entry = At(bucket, key);
  bytes_ -= HeapBytes(entry.value);
  entry.value.assign(value);
  entry.kind = kind;
  bytes_ += HeapBytes(entry.value);
}

bool ItemIndexTail::Merge(int32_t bucket, std::string_view key, std::string_view operand) {
  Entry& entry = At(bucket, key);
  if (entry.kind == Kind::kNone || entry.kind == Kind::kDeleted) {
    const auto shape = ListShapeOf(key);
    if (!shape || !ListView::Of(operand, *shape)) return false;
    entry.kind = entry.kind == Kind::kNone ? Kind::kMerged : Kind::kPut;
    entry.value.assign(operand);
    bytes_ += HeapBytes(entry.value);
    return true;
  }
  bytes_ -= HeapBytes(entry.value);
  const bool appended = AppendToList(key, operand, entry.value);
  bytes_ += HeapBytes(entry.value);
  return appended;
}

ItemIndexTail::Found ItemIndexTail::Find(int32_t bucket, std::string_view key) const {
  const auto found = buckets_.find(bucket);
  if (found == buckets_.end() || found->second.cells.empty()) return {};
  const Bucket& in = found->second;
  const uint64_t hash = HashOf(key);
  const size_t mask = in.cells.size() - 1;
  for (size_t at = hash & mask; in.cells[at] != 0; at = (at + 1) & mask) {
    if (in.cells[at] >> 32 != hash >> 32) continue;
    const Entry& entry = in.entries[(in.cells[at] & UINT32_MAX) - 1];
    if (entry.key == key) return {entry.kind, entry.value};
  }
  return {};
}

const ItemIndexTail::Members* ItemIndexTail::MembersOf(int32_t bucket) const {
  const auto found = buckets_.find(bucket);
  return found == buckets_.end() ? nullptr : &found->second.members;
}

ItemIndexTail::Entry& ItemIndexTail::At(int32_t bucket, std::string_view key) {
  Bucket& in = buckets_[bucket];
  if (2 * (in.entries.size() + 1) > in.cells.size()) Grow(in);
  const uint64_t hash = HashOf(key);
  const size_t mask = in.cells.size() - 1;
  size_t at = hash & mask;
  for (; in.cells[at] != 0; at = (at + 1) & mask) {
    if (in.cells[at] >> 32 != hash >> 32) continue;
    Entry& entry = in.entries[(in.cells[at] & UINT32_MAX) - 1];
    if (entry.key == key) return entry;
  }
  Entry& entry = in.entries.emplace_back();
  entry.key.assign(key);
  in.cells[at] = hash >> 32 << 32 | in.entries.size();
  bytes_ += kEntryBytes + HeapBytes(entry.key);
  if (IsMember(key)) in.members.emplace(entry.key, &entry);
  return entry;
}

void ItemIndexTail::Grow(Bucket& bucket) {
  const size_t size = std::max(kCellsMin, 2 * bucket.cells.size());
  bucket.cells.assign(size, 0);
  for (size_t i = 0; i < bucket.entries.size(); ++i) {
    const uint64_t hash = HashOf(bucket.entries[i].key);
    size_t at = hash & (size - 1);
    while (bucket.cells[at] != 0) at = (at + 1) & (size - 1);
    bucket.cells[at] = hash >> 32 << 32 | (i + 1);
  }
}

std::vector<int32_t> ItemIndexTail::Buckets() const {
  std::vector<int32_t> all;
  all.reserve(buckets_.size());
  for (const auto& [bucket, in] : buckets_) all.push_back(bucket);
  return all;
}

// Sorts by the first eight bytes of the keys. These are kept beside pointers to the entries, which don't
// move. Most keys have no more bytes.
std::vector<const ItemIndexTail::Entry*> ItemIndexTail::Sorted(int32_t bucket) const {
  const auto found = buckets_.find(bucket);
  if (found == buckets_.end()) return {};
  std::vector<std::pair<uint64_t, const Entry*>> by_prefix;
  by_prefix.reserve(found->second.entries.size());
  for (const Entry& entry : found->second.entries) by_prefix.emplace_back(PrefixOf(entry.key), &entry);
  std::sort(by_prefix.begin(), by_prefix.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->key < b.second->key;
  });
  std::vector<const Entry*> sorted;
  sorted.reserve(by_prefix.size());
  for (const auto& [prefix, entry] : by_prefix) sorted.push_back(entry);
  return sorted;
}

void ItemIndexTail::Clear() {
  buckets_.clear();
  bytes_ = 0;
}

}  // namespace seen
