#pragma once
// Counts how two filters decide on the same candidates.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tools/compare/old_filter.h"
#include "tools/compare/request_file.h"
#include "tools/load/random.h"

namespace seen {

/// Candidates by the decisions of the two filters.
struct AgreementCounts {
  uint64_t both = 0;      // both drop it
  uint64_t neither = 0;   // both let it through
  uint64_t only_old = 0;  // only the old filter drops it
  uint64_t only_new = 0;  // only this filter drops it

  uint64_t candidates() const { return both + neither + only_old + only_new; }
  /// 0 to 1; 1 if there are no candidates.
  double agreement() const;
};

enum class OnlySide : uint8_t { kOld, kNew };

/// A candidate that one filter drops and the other one lets through.
struct FilterDifference {
  OnlySide side = OnlySide::kOld;
  uint64_t number = 0;  // the request's
  std::string place;    // the place of the request's line
  std::string user_id;
  std::string filter;
  std::string item_id;
  bool has_created_at = false;  // the request gives the item's creation time
  TimeMs old_since{0};          // when the old filter got the item; 0: not known
};

/// An even sample of a stream, in bounded memory. Source: Vitter, Algorithm R, 1985. One thread.
class DifferenceSample {
 public:
  DifferenceSample(size_t size_max, uint64_t seed) : size_max_(size_max), random_(seed) {}
  /// `make` creates the next difference of the stream. Called only if the sample keeps the difference.
  template <typename Make>
  void Add(const Make& make) {
    const size_t place = NextPlace();
    if (place == size_max_) return;
    if (place == kept_.size()) {
      kept_.push_back(make());
    } else {
      kept_[place] = make();
    }
  }

  uint64_t total() const { return total_; }
  /// Ordered by request, then by the order of candidates within the request.
  std::vector<FilterDifference> InOrder() const;

 private:
  // The place for the next difference, below `size_max_`. `size_max_`: the sample doesn't keep it.
  size_t NextPlace();

  size_t size_max_;
  Random random_;
  uint64_t total_ = 0;
  std::vector<FilterDifference> kept_;
};

/// Share of a request's candidates that were dropped: bin 0 is nothing, bin 1 up to 10%, bin 10 over 90%.
inline constexpr size_t kShareBins = 11;
using ShareHistogram = std::array<uint64_t, kShareBins>;
size_t ShareBin(uint64_t dropped, uint64_t candidates);

/// One thread.
class Comparison {
 public:
  /// `sample_max`: how many differences of each side the samples keep.
  Comparison(size_t sample_max, uint64_t seed);

  /// `new_drops`: by place in the request's items, like `old_answer.dropped`.
  void Add(const CompareRequest& request, const OldAnswer& old_answer, const std::vector<bool>& new_drops);

  AgreementCounts Total() const;
  const std::map<std::string, AgreementCounts>& by_filter() const { return by_filter_; }
  const ShareHistogram& old_shares() const { return old_shares_; }
  const ShareHistogram& new_shares() const { return new_shares_; }
  const DifferenceSample& only_old() const { return only_old_; }
  const DifferenceSample& only_new() const { return only_new_; }
  uint64_t requests() const { return requests_; }
  uint64_t requests_that_differ() const { return requests_that_differ_; }
  uint64_t repeated() const { return repeated_; }
  uint64_t also_seen() const { return also_seen_; }
  uint64_t unknown_items() const { return unknown_items_; }

 private:
  std::map<std::string, AgreementCounts> by_filter_;
  ShareHistogram old_shares_{};
  ShareHistogram new_shares_{};
  DifferenceSample only_old_;
  DifferenceSample only_new_;
  uint64_t requests_ = 0;
  uint64_t requests_that_differ_ = 0;
  uint64_t repeated_ = 0;
  uint64_t also_seen_ = 0;
  uint64_t unknown_items_ = 0;
};

}  // namespace seen
