#pragma once
// A day chain: a split-block Bloom filter for each day. The reader can skip the days before an item's
// creation, and days that have left the window. The rate that is asked for is that of all days together.
// Bytes: schemas/snapshot.md, "10: day chain". Source: as split_block_bloom.h. The division of the rate is
// ours: each day's share is proportional to its items. Then each item takes the same number of bits, which is
// the fewest in total.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/snapshot_format.h"
#include "filter/split_block_bloom.h"
#include "model/horizon.h"

namespace seen {

/// One row of a chain. Several rows may be of the same day.
struct DayOfChain {
  Day day;
  uint32_t item_count = 0;
  uint32_t first_second = 0, last_second = 0;  // since 1970; none of its items is earlier or later
  std::string_view blocks;

  /// Whether an item created at `created_second` can be in. Days before `from` don't count.
  bool Counts(uint32_t created_second, Day from) const {
    return last_second >= created_second && day >= from;
  }
};

/// Points into a payload. Any thread.
class DayChainView {
 public:
  /// kMalformed: a day without blocks, days that don't descend, or a length other than the fields say.
  static Result<DayChainView> Parse(std::string_view payload);

  /// False: certainly not in on any day from `from` on. `created_second`: the item's creation; 0: unknown.
  /// Days that end before it are skipped: nobody can have seen the item by then. About 3 ns a day.
  bool MightContain(Fingerprint fingerprint, uint32_t created_second = 0, Day from = kFirstOfDays) const;
  /// `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers,
                        uint32_t created_second = 0, Day from = kFirstOfDays) const;

  uint32_t days() const { return days_; }
  /// Calls `visit(const DayOfChain&)` for each day, the newest first, until it returns false.
  template <typename Visit>
  void ForEachDay(Visit visit) const {
    size_t at = BlocksStart(days_);
    for (uint32_t i = 0; i < days_; ++i) {
      const DayOfChain day = Row(i, at);
      at += day.blocks.size();
      if (!visit(day)) return;
    }
  }

 private:
  explicit DayChainView(std::string_view payload, uint32_t days) : payload_(payload), days_(days) {}
  static size_t BlocksStart(uint32_t days);
  DayOfChain Row(uint32_t index, size_t blocks_at) const;

  std::string_view payload_;
  uint32_t days_;
};

/// Payloads of kind 10.
struct DayChainFilter {
  static constexpr bool kSizesExactly = true;
  /// For these days; only the number of fingerprints of each day counts.
  static size_t PayloadBytes(std::span<const DayOfItems> days, double rate);
  /// Appends a payload of `days`, the newest first, no fingerprint in two of them; empty days are left out.
  /// `rate`, in (0, kRateMax] (Check), is that of all days together.
  static void Render(std::span<const DayOfItems> days, double rate, std::string& out);
  /// The share of `rate` for a day with `part` of `whole` items, rounded down to rate * 2^(-j / 2). So there
  /// are few rates, and their sizes are remembered.
  static double ShareOf(double rate, size_t part, size_t whole);
};

}  // namespace seen
