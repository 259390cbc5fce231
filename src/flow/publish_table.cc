#include "flow/publish_table.h"

#include <algorithm>
#include <cmath>

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

// A user key is a hash, so its bits are as good as random. Scans go by `high`, so `low` is even on both sides
// of a scan's place.
void MarksLeft::Part::Add(const UserRef& ref) {
  ++added;
  users.Add(ref.user.low + ref.filter.number() * 0x9e3779b97f4a7c15u);
}

uint64_t MarksLeft::Part::UpperBound() const {
  constexpr double kSlack = 1.15;  // more than four standard errors
  return std::min(added, static_cast<uint64_t>(std::ceil(users.Estimate() * kSlack)));
}

void MarksLeft::ScanEnded() {
  ahead_ = behind_;
  behind_ = {};
  scanned_ = 0;
}

uint64_t MarksLeft::UpperBound() const {
  const uint64_t ahead = ahead_.UpperBound();
  return ahead - std::min(ahead, scanned_) + behind_.UpperBound();
}

}  // namespace seen
