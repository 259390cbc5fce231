#pragma once
// A day chain that takes items one by one: kind 10 of schemas/snapshot.md.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "filter/day_chain.h"

namespace seen {

/// An item of several days is in each of these days, which only raises the rate a little. One thread.
class MutableDayChain {
 public:
  /// Empty, sized for `days` (> 0) days of `count_a_day` items each. `rate` in (0, kRateMax] (Check) is for
  /// all days together. More days or more items raise the rate.
  MutableDayChain(size_t count_a_day, size_t days, double rate);
  /// Inserts an item seen on `day`, at `second` since 1970.
  void Insert(Fingerprint fingerprint, Day day, uint32_t second);
  bool MightContain(Fingerprint fingerprint, uint32_t created_second = 0, Day from = kFirstOfDays) const;
  /// Drops the days before `from`.
  void DropBefore(Day from);
  /// Adds the items of `other`. For a day in both chains, the blocks are joined if both have the same number
  /// of blocks. Otherwise both stay, one behind the other. The rates add up. Never fails.
  Status Merge(const MutableDayChain& other);
  Status Merge(const DayChainView& other);
  /// Appends the payload.
  void Serialise(std::string& out) const;

 private:
  struct Entry {
    Day day;
    uint32_t item_count, first_second, last_second;
    std::string blocks;

    DayOfChain View() const { return {day, item_count, first_second, last_second, blocks}; }
  };
  void Join(const DayOfChain& day);

  size_t bytes_a_day_;
  std::vector<Entry> entries_;  // the newest day first
};

}  // namespace seen
