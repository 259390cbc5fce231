#include "flow/publish_table.h"

namespace seen {

void PublishTable::PrefetchEntry(const UserRef& ref, size_t ahead) const {
  const uint32_t first = index_.Find(TagOf(ref), [](uint32_t) { return true; });
  if (first != kNone) {
    PrefetchEntry(first);
  } else if (free_.size() > ahead) {
    PrefetchEntry(free_[free_.size() - 1 - ahead]);
  }
}

uint32_t PublishTable::Find(const UserRef& ref) const {
  return index_.Find(TagOf(ref), [&](uint32_t number) { return (*this)[number].ref() == ref; });
}

uint32_t PublishTable::FindOrAdd(const UserRef& ref, Outlet outlet) {
  if (const uint32_t found = Find(ref); found != kNone) return found;
  uint32_t number;
  if (free_.empty()) {
    number = end_++;
    if (number % kChunk == 0) chunks_.push_back(std::make_unique<PublishEntry[]>(kChunk));
  } else {
    number = free_.back();
    free_.pop_back();
  }
  index_.Insert(TagOf(ref), number);
  PublishEntry& entry = (*this)[number];
  entry = {};
  entry.user = ref.user;
  entry.filter = ref.filter;
  entry.outlet = outlet;
  entry.used = true;
  return number;
}

void PublishTable::Remove(uint32_t number) {
  PublishEntry& entry = (*this)[number];
  index_.Remove(TagOf(entry.ref()), number);
  entry.used = false;
  free_.push_back(number);
}

}  // namespace seen
