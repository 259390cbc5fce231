#include "flow/items_by_day.h"

#include <algorithm>
#include <limits>

namespace seen {

std::span<const DayOfItems> ItemsByDay::Group(std::span<const CountedEnd> ends, int32_t days_later) {
  constexpr uint64_t kSecondMax = std::numeric_limits<uint32_t>::max();
  dated_.clear();
  for (const CountedEnd& end : ends) {
    const auto second = static_cast<uint32_t>(std::min(end.second, kSecondMax));
    dated_.push_back({static_cast<int32_t>(second / kSecondsPerDay), second, end.fingerprint});
  }
  std::stable_sort(dated_.begin(), dated_.end(),
                   [](const Dated& a, const Dated& b) { return a.day > b.day; });
  days_.clear();
  fingerprints_.resize(dated_.size());
  for (size_t i = 0; i < dated_.size(); ++i) fingerprints_[i] = dated_[i].fingerprint;
  const std::span<const Fingerprint> all(fingerprints_);
  for (size_t from = 0; from < dated_.size();) {
    size_t to = from;
    uint32_t last = 0;
    for (; to < dated_.size() && dated_[to].day == dated_[from].day; ++to)
      last = std::max(last, dated_[to].second);
    // An end says when at the latest, the day when at the earliest.
    const auto first = static_cast<uint32_t>(dated_[from].day * kSecondsPerDay);
    days_.push_back({Day{dated_[from].day + days_later}, first, last, all.subspan(from, to - from)});
    from = to;
  }
  return days_;
}

}  // namespace seen
