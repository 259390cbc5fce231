#include "flow/publish_table.h"

namespace seen {
namespace {
constexpr size_t kCellsMin = 1024;
}

PublishTable::PublishTable() : mask_(kCellsMin - 1), cells_(kCellsMin) {}

void PublishTable::PrefetchEntry(const UserRef& ref) const {
  const uint32_t tag = TagOf(ref);
  for (size_t at = Home(tag); cells_[at] != 0; at = (at + 1) & mask_) {
    if (TagIn(cells_[at]) == tag) return PrefetchEntry(NumberIn(cells_[at]));
  }
}

uint32_t PublishTable::Find(const UserRef& ref) const {
  const uint32_t tag = TagOf(ref);
  for (size_t at = Home(tag); cells_[at] != 0; at = (at + 1) & mask_) {
    if (TagIn(cells_[at]) != tag) continue;
    const PublishEntry& entry = (*this)[NumberIn(cells_[at])];
    if (entry.user == ref.user && entry.filter == ref.filter) return NumberIn(cells_[at]);
  }
  return kNone;
}

uint32_t PublishTable::FindOrAdd(const UserRef& ref, FilterIndex filter_index) {
  if (const uint32_t found = Find(ref); found != kNone) return found;
  uint32_t number;
  if (free_.empty()) {
    number = end_++;
    if (number % kChunk == 0) chunks_.push_back(std::make_unique<PublishEntry[]>(kChunk));
  } else {
    number = free_.back();
    free_.pop_back();
  }
  if (++size_ * 2 > cells_.size()) Grow();
  Insert(uint64_t{TagOf(ref)} << 32 | (number + 1));
  PublishEntry& entry = (*this)[number];
  entry = {};
  entry.user = ref.user;
  entry.filter = ref.filter;
  entry.filter_index = filter_index;
  entry.used = true;
  return number;
}

void PublishTable::Insert(uint64_t cell) {
  size_t at = Home(TagIn(cell));
  while (cells_[at] != 0) at = (at + 1) & mask_;
  cells_[at] = cell;
}

void PublishTable::Grow() {
  std::vector<uint64_t> old(cells_.size() * 2);
  old.swap(cells_);
  mask_ = cells_.size() - 1;
  for (const uint64_t cell : old) {
    if (cell != 0) Insert(cell);
  }
}

void PublishTable::Remove(uint32_t number) {
  PublishEntry& entry = (*this)[number];
  size_t hole = Home(TagOf(entry.ref()));
  while (static_cast<uint32_t>(cells_[hole]) != number + 1) hole = (hole + 1) & mask_;
  // What was pushed past the hole moves back into it, unless it is at home behind it (Knuth, TAOCP 6.4, R).
  for (size_t at = hole;;) {
    at = (at + 1) & mask_;
    if (cells_[at] == 0) break;
    const size_t home = Home(TagIn(cells_[at]));
    if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
    cells_[hole] = cells_[at];
    hole = at;
  }
  cells_[hole] = 0;
  entry.used = false;
  free_.push_back(number);
  --size_;
}

}  // namespace seen
