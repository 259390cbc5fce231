#include "tools/compare/comparison.h"

#include <algorithm>
#include <utility>

#include "base/result.h"

namespace seen {

double AgreementCounts::agreement() const {
  const uint64_t all = candidates();
  return all == 0 ? 1.0 : static_cast<double>(both + neither) / static_cast<double>(all);
}

size_t DifferenceSample::NextPlace() {
  const uint64_t before = total_++;
  if (before < size_max_) return static_cast<size_t>(before);
  const auto place = static_cast<uint64_t>(random_.Unit() * static_cast<double>(total_));
  return static_cast<size_t>(std::min<uint64_t>(place, size_max_));
}

std::vector<FilterDifference> DifferenceSample::InOrder() const {
  std::vector<FilterDifference> ordered = kept_;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const FilterDifference& a, const FilterDifference& b) { return a.number < b.number; });
  return ordered;
}

size_t ShareBin(uint64_t dropped, uint64_t candidates) {
  if (dropped == 0) return 0;
  return static_cast<size_t>((dropped * 10 + candidates - 1) / candidates);
}

Comparison::Comparison(size_t sample_max, uint64_t seed)
    : only_old_(sample_max, seed), only_new_(sample_max, seed + 1) {}

void Comparison::Add(const CompareRequest& request, const OldAnswer& old_answer,
                     const std::vector<bool>& new_drops) {
  Check(old_answer.dropped.size() == request.items.size() && new_drops.size() == request.items.size(),
        "an answer has a place for each candidate");
  ++requests_;
  repeated_ += request.repeated;
  also_seen_ += request.also_seen;
  unknown_items_ += old_answer.unknown_items;
  AgreementCounts counts;
  for (size_t i = 0; i < request.items.size(); ++i) {
    const bool old_drops = old_answer.dropped[i];
    if (old_drops == new_drops[i]) {
      ++(old_drops ? counts.both : counts.neither);
      continue;
    }
    ++(old_drops ? counts.only_old : counts.only_new);
    (old_drops ? only_old_ : only_new_).Add([&] {
      return FilterDifference{.side = old_drops ? OnlySide::kOld : OnlySide::kNew,
                              .number = request.number,
                              .place = request.place,
                              .user_id = request.user_id,
                              .filter = request.filter,
                              .item_id = request.items[i],
                              .has_created_at = !request.created_ms.empty() && request.created_ms[i] != 0,
                              .old_since = old_answer.since.empty() ? TimeMs{0} : old_answer.since[i]};
    });
  }
  if (counts.only_old + counts.only_new > 0) ++requests_that_differ_;
  if (!request.items.empty()) {
    ++old_shares_[ShareBin(counts.both + counts.only_old, request.items.size())];
    ++new_shares_[ShareBin(counts.both + counts.only_new, request.items.size())];
  }
  AgreementCounts& sum = by_filter_[request.filter];
  sum.both += counts.both;
  sum.neither += counts.neither;
  sum.only_old += counts.only_old;
  sum.only_new += counts.only_new;
}

AgreementCounts Comparison::Total() const {
  AgreementCounts total;
  for (const auto& [name, counts] : by_filter_) {
    total.both += counts.both;
    total.neither += counts.neither;
    total.only_old += counts.only_old;
    total.only_new += counts.only_new;
  }
  return total;
}

}  // namespace seen
