#include "flow/items_by_day.h"

#include <algorithm>
#include <limits>

namespace seen {
namespace {

uint32_t Second(uint64_t second) {
  return static_cast<uint32_t>(std::min<uint64_t>(second, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

std::span<const DayOfItems> ItemsByDay::Group(std::span<const CountedEnd> ends, DayBy by) {
  const auto day_of = [by](const CountedEnd& end) {
    return by == DayBy::kWindow ? end.day : Day{static_cast<int32_t>(Second(end.second) / kSecondsPerDay)};
  };
  struct Sum {
    DayOfItems day;
    size_t count = 0, at = 0;
  };
  std::vector<Sum> sums;  // ascending: few days, and items of one day mostly come in a row
  size_t last = 0;
  const auto sum_of = [&](Day day) -> Sum& {
    if (last < sums.size() && sums[last].day.day == day) return sums[last];
    const auto found = std::lower_bound(sums.begin(), sums.end(), day,
                                        [](const Sum& sum, Day wanted) { return sum.day.day < wanted; });
    last = static_cast<size_t>(found - sums.begin());
    if (found == sums.end() || found->day.day != day) {
      return *sums.insert(found, {{day, std::numeric_limits<uint32_t>::max(), 0, {}}});
    }
    return *found;
  };
  for (const CountedEnd& end : ends) {
    Sum& sum = sum_of(day_of(end));
    ++sum.count;
    sum.day.first_second = std::min(sum.day.first_second, Second(end.first_second));
    sum.day.last_second = std::max(sum.day.last_second, Second(end.second));
  }
  fingerprints_.resize(ends.size());
  size_t at = 0;
  for (Sum& sum : sums) {
    sum.day.fingerprints = std::span<const Fingerprint>(fingerprints_).subspan(at, sum.count);
    sum.at = at;
    at += sum.count;
  }
  for (const CountedEnd& end : ends) fingerprints_[sum_of(day_of(end)).at++] = end.fingerprint;
  days_.clear();
  for (auto sum = sums.rbegin(); sum != sums.rend(); ++sum) {
    const auto of_day = std::span(fingerprints_).subspan(sum->at - sum->count, sum->count);
    if (!std::is_sorted(of_day.begin(), of_day.end())) std::sort(of_day.begin(), of_day.end());
    days_.push_back(sum->day);
  }
  return days_;
}

}  // namespace seen
