#include "flow/items_by_day.h"

#include <algorithm>
#include <limits>

namespace seen {
namespace {

uint32_t Second(uint64_t second) {
  return static_cast<uint32_t>(std::min<uint64_t>(second, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

std::span<const DayOfItems> ItemsByDay::Group(std::span<const CountedEnd> ends) {
  ends_.assign(ends.begin(), ends.end());
  std::stable_sort(ends_.begin(), ends_.end(),
                   [](const CountedEnd& a, const CountedEnd& b) { return a.day > b.day; });
  days_.clear();
  fingerprints_.resize(ends_.size());
  for (size_t i = 0; i < ends_.size(); ++i) fingerprints_[i] = ends_[i].fingerprint;
  const std::span<const Fingerprint> all(fingerprints_);
  for (size_t from = 0; from < ends_.size();) {
    size_t to = from;
    DayOfItems day{ends_[from].day, std::numeric_limits<uint32_t>::max(), 0, {}};
    for (; to < ends_.size() && ends_[to].day == day.day; ++to) {
      day.first_second = std::min(day.first_second, Second(ends_[to].first_second));
      day.last_second = std::max(day.last_second, Second(ends_[to].second));
    }
    day.fingerprints = all.subspan(from, to - from);
    days_.push_back(day);
    from = to;
  }
  return days_;
}

}  // namespace seen
