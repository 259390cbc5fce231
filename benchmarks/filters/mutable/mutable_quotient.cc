#include "filters/mutable/mutable_quotient.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/result.h"
#include "filter/snapshot_format.h"

namespace seen {
namespace {

using quotient::Geometry;
using quotient::LowBits64;

std::string_view Chars(std::span<char> bytes) { return {bytes.data(), bytes.size()}; }

/// Moves `count` bits from `at` to `at + by`, the last bits first.
void MoveBitsUp(std::span<char> bytes, uint64_t at, uint64_t count, uint32_t by) {
  while (count > 0) {
    const auto width = static_cast<uint32_t>(std::min<uint64_t>(count, 32));
    count -= width;
    PutBits(bytes, at + count + by, width, GetBits(Chars(bytes), at + count, width));
  }
}

/// Moves `count` bits from `at + by` to `at`, the first bits first.
void MoveBitsDown(std::span<char> bytes, uint64_t at, uint64_t count, uint32_t by) {
  for (uint64_t done = 0; done < count;) {
    const auto width = static_cast<uint32_t>(std::min<uint64_t>(count - done, 32));
    PutBits(bytes, at + done, width, GetBits(Chars(bytes), at + done + by, width));
    done += width;
  }
}

/// All keys in the filter, ascending.
std::vector<uint64_t> KeysOf(const Geometry& geometry, const quotient::Reader& reader) {
  std::vector<uint64_t> keys;
  uint64_t slot = 0;
  for (uint64_t block = 0; block < geometry.Blocks(); ++block) {
    for (uint64_t left = reader.Occupied(block); left != 0; left &= left - 1) {
      const uint64_t quotient = 64 * block + static_cast<uint32_t>(std::countr_zero(left));
      slot = std::max(slot, quotient);
      do {
        keys.push_back(quotient << geometry.remainder_bits | reader.Remainder(slot));
      } while (!reader.IsRunEnd(slot++));
    }
  }
  return keys;
}

/// The slots, with room for runs that reach beyond the slot of the last quotient. At 95%, a run reaches k
/// slots beyond the end with a probability of about exp(-0.1 k).
uint32_t SlotsWithOverflow(uint64_t quotients) {
  constexpr double kOverflowSlotsMax = 192;
  const double overflow = std::min(static_cast<double>(quotients), kOverflowSlotsMax);
  return static_cast<uint32_t>(static_cast<double>(quotients) + overflow);
}

/// The geometry for `count` items, inserted one by one. The filter is then 95% full, with slots for the last
/// runs.
Geometry RoomyFor(size_t count, double rate) {
  Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]");
  Check(count <= quotient::kCountMax, "too many items for one filter");
  const double quotients = std::ceil(static_cast<double>(std::max<size_t>(count, 1)) / 0.95);
  const double values = quotient::ValuesFor(count, std::max(rate, kRateMin));
  const double bits = std::ceil(std::log2(std::max(values / quotients, 1.0)));
  const auto r = std::clamp(static_cast<uint32_t>(bits), 1U, quotient::kRemainderBitsMax);
  return {r, static_cast<uint32_t>(quotients), SlotsWithOverflow(static_cast<uint64_t>(quotients))};
}

}  // namespace

MutableQuotient::MutableQuotient(size_t count, double rate)
    : geometry_(RoomyFor(count, rate)), blocks_(geometry_.Bytes(), '\0') {}

bool MutableQuotient::MightContain(Fingerprint fingerprint) const {
  return Reader().Holds(geometry_.KeyOf(HashOf(fingerprint)));
}

/// Moves slots `from` to `to` - 1 up by one slot, or back down. The slot that is left behind keeps its
/// content.
void MutableQuotient::Shift(uint64_t from, uint64_t to, bool up) {
  const uint32_t r = geometry_.remainder_bits;
  const quotient::Reader reader = Reader();
  const uint64_t first_block = from / 64;
  const uint64_t last_block = to / 64;
  for (uint64_t step = 0; step <= last_block - first_block; ++step) {
    const uint64_t block = up ? last_block - step : first_block + step;
    const uint64_t low = std::max(from, 64 * block);
    const uint64_t high = std::min(to, 64 * block + 63);
    const uint64_t word = reader.RunEnds(block);
    const uint64_t lower =
        LowBits64(static_cast<uint32_t>(high % 64)) & ~LowBits64(static_cast<uint32_t>(low % 64));
    const uint64_t upper = lower << 1;
    const uint64_t moved = up ? (word & ~upper) | (word & lower) << 1 : (word & ~lower) | (word & upper) >> 1;
    PutInteger(Bytes(), block * geometry_.BlockBytes() + 10, moved);
    (up ? MoveBitsUp : MoveBitsDown)(Bytes(), reader.RemainderAt(low), (high - low) * r, r);
    // Also move the slot at the border between this block and the next moved block.
    const uint64_t next = up ? 64 * block : 64 * block + 64;
    if (up ? block == first_block : block == last_block) continue;
    const uint64_t source = up ? next - 1 : next;
    const uint64_t target = up ? next : next - 1;
    PutRunEnd(target, reader.IsRunEnd(source));
    PutBits(Bytes(), reader.RemainderAt(target), r, reader.Remainder(source));
  }
}

void MutableQuotient::PutRunEnd(uint64_t slot, bool is_end) {
  PutBits(Bytes(), (slot / 64 * geometry_.BlockBytes() + 10) * 8 + slot % 64, 1, is_end ? 1 : 0);
}

void MutableQuotient::FlipOccupied(uint64_t quotient) {
  const uint64_t at = (quotient / 64 * geometry_.BlockBytes() + 2) * 8 + quotient % 64;
  PutBits(Bytes(), at, 1, GetBits(blocks_, at, 1) ^ 1);
}

/// Changes the offsets of the blocks after `quotient`'s block, up to `slot`'s block.
void MutableQuotient::AddToOffsets(uint64_t quotient, uint64_t slot, int step) {
  for (uint64_t block = quotient / 64 + 1; block <= slot / 64; ++block) {
    const auto offset = static_cast<uint16_t>(static_cast<int>(Reader().Offset(block)) + step);
    PutInteger(Bytes(), block * geometry_.BlockBytes(), offset);
  }
}

bool MutableQuotient::Insert(Fingerprint fingerprint) {
  const quotient::Reader reader = Reader();
  const uint64_t key = geometry_.KeyOf(HashOf(fingerprint));
  const uint64_t quotient = key >> geometry_.remainder_bits;
  const auto remainder = static_cast<uint32_t>(key) & LowBits(geometry_.remainder_bits);
  const bool has_run = reader.IsOccupied(quotient);
  const uint64_t behind = reader.BehindRuns(quotient);
  uint64_t slot = std::max(behind, quotient);
  if (has_run) {
    while (reader.Remainder(slot - 1) > remainder) {
      --slot;
      if (slot == quotient || reader.IsRunEnd(slot - 1)) break;
    }
  }
  uint64_t free = slot;
  while (true) {
    if (free >= geometry_.slots) return false;
    const uint64_t after = reader.BehindRuns(free);
    if (after <= free) break;
    free = after;
  }
  for (uint64_t block = quotient / 64 + 1; block <= free / 64; ++block) {
    if (reader.Offset(block) == quotient::kOffsetMax) return false;
  }
  Shift(slot, free, true);
  PutBits(Bytes(), reader.RemainderAt(slot), geometry_.remainder_bits, remainder);
  PutRunEnd(slot, !has_run || slot == behind);
  if (!has_run) {
    FlipOccupied(quotient);
  } else if (slot == behind) {
    PutRunEnd(slot - 1, false);
  }
  AddToOffsets(quotient, free, 1);
  ++size_;
  return true;
}

bool MutableQuotient::Remove(Fingerprint fingerprint) {
  const quotient::Reader reader = Reader();
  const uint64_t key = geometry_.KeyOf(HashOf(fingerprint));
  const uint64_t quotient = key >> geometry_.remainder_bits;
  const auto remainder = static_cast<uint32_t>(key) & LowBits(geometry_.remainder_bits);
  if (!reader.IsOccupied(quotient)) return false;
  const uint64_t last = reader.BehindRuns(quotient) - 1;
  const auto is_first = [&](uint64_t slot) { return slot == quotient || reader.IsRunEnd(slot - 1); };
  uint64_t slot = last;
  while (reader.Remainder(slot) != remainder) {
    if (is_first(slot)) return false;
    --slot;
  }
  const bool was_last = slot == last;
  const bool was_only = was_last && is_first(slot);
  // All slots behind it move down, up to the first run that is already in its place.
  uint64_t end = last;
  for (uint64_t after = reader.BehindRuns(end); after > end + 1; after = reader.BehindRuns(end))
    end = after - 1;
  Shift(slot, end, false);
  PutBits(Bytes(), reader.RemainderAt(end), geometry_.remainder_bits, 0);
  PutRunEnd(end, false);
  if (was_only) {
    FlipOccupied(quotient);
  } else if (was_last) {
    PutRunEnd(slot - 1, true);
  }
  AddToOffsets(quotient, end, -1);
  --size_;
  return true;
}

Status MutableQuotient::Merge(const MutableQuotient& other) {
  if (!(geometry_ == other.geometry_)) {
    const auto name = [](const Geometry& geometry) {
      return std::to_string(geometry.quotients) + " quotients of " + std::to_string(geometry.remainder_bits) +
             " bits in " + std::to_string(geometry.slots) + " slots";
    };
    return Fail(Code::kInvalidArgument,
                "merge: " + name(other.geometry_) + " into " + name(geometry_) + "; both must have as many");
  }
  const auto left = KeysOf(geometry_, Reader());
  const auto right = KeysOf(other.geometry_, other.Reader());
  std::vector<uint64_t> keys(left.size() + right.size());
  std::merge(left.begin(), left.end(), right.begin(), right.end(), keys.begin());
  std::string merged(blocks_.size(), '\0');
  if (!quotient::Build<uint64_t>(geometry_, keys, merged)) {
    return Fail(Code::kInvalidArgument, "merge: " + std::to_string(keys.size()) + " items don't fit into " +
                                            std::to_string(geometry_.slots) + " slots; let both grow first");
  }
  blocks_ = std::move(merged);
  size_ = keys.size();
  return {};
}

bool MutableQuotient::Grow() {
  if (geometry_.remainder_bits == 1 || geometry_.quotients >= uint32_t{1} << 31) return false;
  Geometry grown = geometry_;
  --grown.remainder_bits;
  grown.quotients *= 2;
  // Items of one quotient stay close together, so runs that reached beyond the end may do so again.
  grown.slots =
      std::max(SlotsWithOverflow(grown.quotients), grown.quotients + (geometry_.slots - geometry_.quotients));
  std::string blocks(grown.Bytes(), '\0');
  if (!quotient::Build<uint64_t>(grown, KeysOf(geometry_, Reader()), blocks)) return false;
  geometry_ = grown;
  blocks_ = std::move(blocks);
  return true;
}

void MutableQuotient::Serialise(std::string& out) const {
  quotient::AppendFields(geometry_, out);
  out += blocks_;
}

}  // namespace seen
