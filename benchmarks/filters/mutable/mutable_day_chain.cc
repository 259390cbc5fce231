#include "filters/mutable/mutable_day_chain.h"

#include <algorithm>
#include <limits>

#include "base/result.h"
#include "filter/bits.h"

namespace seen {

MutableDayChain::MutableDayChain(size_t count_a_day, size_t days, double rate) {
  Check(days > 0, "a day chain is sized for one day at least");
  bytes_a_day_ = split_block_bloom::kBlockBytes *
                 split_block_bloom::BlocksFor(count_a_day, DayChainFilter::ShareOf(rate, 1, days));
}

void MutableDayChain::Insert(Fingerprint fingerprint, Day day, uint32_t second) {
  auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.day <= day; });
  if (at == entries_.end() || at->day != day) {
    at = entries_.insert(at, Entry{.day = day,
                                   .item_count = 0,
                                   .first_second = second,
                                   .last_second = second,
                                   .blocks = std::string(bytes_a_day_, '\0')});
  }
  at->item_count += at->item_count < std::numeric_limits<uint32_t>::max() ? 1u : 0u;
  at->first_second = std::min(at->first_second, second);
  at->last_second = std::max(at->last_second, second);
  split_block_bloom::Insert({&fingerprint, 1}, at->blocks);
}

bool MutableDayChain::MightContain(Fingerprint fingerprint, uint32_t created_second, Day from) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.View().Counts(created_second, from) &&
           split_block_bloom::MightContain(entry.blocks, fingerprint);
  });
}

void MutableDayChain::DropBefore(Day from) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.day < from; });
}

void MutableDayChain::Join(const DayOfChain& day) {
  auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.day < day.day || (entry.day == day.day && entry.blocks.size() == day.blocks.size());
  });
  if (at == entries_.end() || at->day != day.day) {
    entries_.insert(at, Entry{.day = day.day,
                              .item_count = day.item_count,
                              .first_second = day.first_second,
                              .last_second = day.last_second,
                              .blocks = std::string(day.blocks)});
    return;
  }
  const uint64_t count = uint64_t{at->item_count} + day.item_count;
  at->item_count = static_cast<uint32_t>(std::min<uint64_t>(count, std::numeric_limits<uint32_t>::max()));
  at->first_second = std::min(at->first_second, day.first_second);
  at->last_second = std::max(at->last_second, day.last_second);
  for (size_t i = 0; i < day.blocks.size(); ++i) {
    at->blocks[i] = static_cast<char>(at->blocks[i] | day.blocks[i]);
  }
}

Status MutableDayChain::Merge(const MutableDayChain& other) {
  const std::vector<Entry> entries = other.entries_;  // a copy, because `other` may be this filter
  for (const Entry& entry : entries) Join(entry.View());
  return {};
}

Status MutableDayChain::Merge(const DayChainView& other) {
  other.ForEachDay([&](const DayOfChain& day) {
    Join(day);
    return true;
  });
  return {};
}

void MutableDayChain::Serialise(std::string& out) const {
  AppendInteger(out, static_cast<uint32_t>(entries_.size()));
  for (const Entry& entry : entries_) {
    AppendInteger(out, entry.day.since_epoch);
    AppendInteger(out, entry.item_count);
    AppendInteger(out, entry.first_second);
    AppendInteger(out, entry.last_second);
    AppendInteger(out, static_cast<uint32_t>(entry.blocks.size() / split_block_bloom::kBlockBytes));
  }
  for (const Entry& entry : entries_) out += entry.blocks;
}

}  // namespace seen
