#include "filter/day_chain.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "filter/bits.h"

namespace seen {
namespace {

using split_block_bloom::kBlockBytes;

constexpr size_t kChainFieldBytes = 4, kRowBytes = 20;
constexpr size_t kItemCountAt = 4, kFirstSecondAt = 8, kLastSecondAt = 12, kBlocksAt = 16;  // in a row

size_t BlocksOf(const DayOfItems& day, size_t count, double rate) {
  return split_block_bloom::BlocksFor(day.fingerprints.size(),
                                      DayChainFilter::ShareOf(rate, day.fingerprints.size(), count));
}

void CheckRate(double rate) { Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]"); }

void PutRow(std::span<char> payload, size_t at, const DayOfChain& day) {
  PutInteger(payload, at, day.day.since_epoch);
  PutInteger(payload, at + kItemCountAt, day.item_count);
  PutInteger(payload, at + kFirstSecondAt, day.first_second);
  PutInteger(payload, at + kLastSecondAt, day.last_second);
  PutInteger(payload, at + kBlocksAt, static_cast<uint32_t>(day.blocks.size() / kBlockBytes));
}

}  // namespace

size_t DayChainView::BlocksStart(uint32_t days) { return kChainFieldBytes + kRowBytes * size_t{days}; }

DayOfChain DayChainView::Row(uint32_t index, size_t blocks_at) const {
  const size_t at = kChainFieldBytes + kRowBytes * size_t{index};
  return {.day = {GetInteger<int32_t>(payload_, at)},
          .item_count = GetInteger<uint32_t>(payload_, at + kItemCountAt),
          .first_second = GetInteger<uint32_t>(payload_, at + kFirstSecondAt),
          .last_second = GetInteger<uint32_t>(payload_, at + kLastSecondAt),
          .blocks = payload_.substr(blocks_at, kBlockBytes * GetInteger<uint32_t>(payload_, at + kBlocksAt))};
}

Result<DayChainView> DayChainView::Parse(std::string_view payload) {
  if (payload.size() < kChainFieldBytes) {
    return Malformed("day chain: " + std::to_string(payload.size()) +
                     " bytes; the number of days alone takes 4");
  }
  const auto days = GetInteger<uint32_t>(payload, 0);
  if (payload.size() < BlocksStart(days)) {
    return Malformed("day chain: " + std::to_string(payload.size()) + " bytes; the rows of " +
                     std::to_string(days) + " days take more");
  }
  uint64_t bytes = BlocksStart(days);  // below 2^37; each day adds at most 2^37 before a break: no overflow
  Day before = {std::numeric_limits<int32_t>::max()};
  for (size_t at = kChainFieldBytes; at < BlocksStart(days); at += kRowBytes) {
    const Day day = {GetInteger<int32_t>(payload, at)};
    const auto blocks = GetInteger<uint32_t>(payload, at + kBlocksAt);
    if (blocks == 0) {
      return Malformed("day chain: day " + std::to_string(day.since_epoch) +
                       " has no blocks; each has one at least");
    }
    if (day > before) {
      return Malformed("day chain: day " + std::to_string(day.since_epoch) + " comes after an earlier day");
    }
    before = day;
    bytes += kBlockBytes * uint64_t{blocks};
    if (bytes > payload.size()) break;
  }
  if (bytes != payload.size()) {
    return Malformed("day chain: " + std::to_string(payload.size()) + " bytes; by its days it has " +
                     (bytes > payload.size() ? "more" : std::to_string(bytes)));
  }
  return DayChainView(payload, days);
}

bool DayChainView::MightContain(Fingerprint fingerprint, uint32_t created_second, Day from) const {
  bool found = false;
  ForEachDay([&](const DayOfChain& day) {
    if (day.day < from) return false;
    found = day.Counts(created_second, from) && split_block_bloom::MightContain(day.blocks, fingerprint);
    return !found;
  });
  return found;
}

void DayChainView::MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers,
                                    uint32_t created_second, Day from) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  std::fill(answers.begin(), answers.end(), uint8_t{0});
  std::array<uint8_t, 1024> of_day;
  for (size_t done = 0; done < fingerprints.size();) {
    const size_t count = std::min(of_day.size(), fingerprints.size() - done);
    ForEachDay([&](const DayOfChain& day) {
      if (!day.Counts(created_second, from)) return day.day >= from;
      split_block_bloom::MightContainEach(day.blocks, fingerprints.subspan(done, count),
                                          std::span(of_day).first(count));
      for (size_t i = 0; i < count; ++i) answers[done + i] |= of_day[i];
      return true;
    });
    done += count;
  }
}

double DayChainFilter::ShareOf(double rate, size_t part, size_t whole) {
  double share = 1;
  for (int j = 0; share * static_cast<double>(whole) > static_cast<double>(part); ++j) {
    share = std::ldexp(j % 2 == 0 ? std::sqrt(0.5) : 0.5, -(j / 2));
  }
  return std::max(rate * share, kRateMin);
}

size_t DayChainFilter::PayloadBytes(std::span<const DayOfItems> days, double rate) {
  CheckRate(rate);
  const size_t count = ItemsIn(days);
  size_t bytes = kChainFieldBytes;
  for (const DayOfItems& day : days) {
    if (!day.fingerprints.empty()) bytes += kRowBytes + kBlockBytes * BlocksOf(day, count, rate);
  }
  return bytes;
}

void DayChainFilter::Render(std::span<const DayOfItems> days, double rate, std::string& out) {
  const size_t start = out.size();
  const size_t count = ItemsIn(days);
  out.resize(start + PayloadBytes(days, rate));
  const auto payload = std::span(out).subspan(start);
  const auto rows = static_cast<uint32_t>(std::count_if(
      days.begin(), days.end(), [](const DayOfItems& day) { return !day.fingerprints.empty(); }));
  PutInteger(payload, 0, rows);
  size_t row_at = kChainFieldBytes;
  size_t blocks_at = kChainFieldBytes + kRowBytes * size_t{rows};
  Day before = {std::numeric_limits<int32_t>::max()};
  for (const DayOfItems& day : days) {
    if (day.fingerprints.empty()) continue;
    Check(day.day <= before, "the days of a chain descend");
    before = day.day;
    const auto blocks = payload.subspan(blocks_at, kBlockBytes * BlocksOf(day, count, rate));
    split_block_bloom::Insert(day.fingerprints, blocks);
    PutRow(payload, row_at,
           {.day = day.day,
            .item_count = static_cast<uint32_t>(day.fingerprints.size()),
            .first_second = day.first_second,
            .last_second = day.last_second,
            .blocks = {blocks.data(), blocks.size()}});
    row_at += kRowBytes;
    blocks_at += blocks.size();
  }
}

}  // namespace seen
