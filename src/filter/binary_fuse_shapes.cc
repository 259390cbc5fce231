#include "filter/binary_fuse_shapes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace seen {
namespace {

// Up to this count every small array is tried: the paper's sizes are meant for large sets.
constexpr size_t kSmall = 250;
// The more segments a small array has, the fewer arrangements: with more than these it can hardly ever be
// built.
constexpr uint64_t kSmallSegmentsMax = 12;

bool IsSmall(size_t count) { return count <= kSmall; }

// The entries an item that are worth trying for larger sets. Measured: a third to nine tenths of random sets
// can be built with them. The paper takes a number with which nearly all can: 0.875 + 3.45 / ln(count), at
// least 1.125.
double EntriesAnItem(double count) { return std::clamp(0.9 + 3.0 / std::log(count), 1.125, 1.28); }

// Half the paper's length. At these sizes it can be built as often, has a finer step, and uses less memory at
// a time.
uint32_t LengthLog2(double count) {
  return std::min(18u, static_cast<uint32_t>(std::log(count) / std::log(3.33) + 1.25));
}

}  // namespace

BinaryFuseShapes::BinaryFuseShapes(size_t count) : count_(count) {
  if (IsSmall(count)) {
    // Some microseconds for each shape.
    seeds_ = static_cast<uint32_t>(std::clamp<size_t>(1200 / count, 4, 64));
    TakeSmall(std::max<uint64_t>(3, count + std::max<uint64_t>(2, count / 5)));
    return;
  }
  seeds_ = count <= 5000 ? 4 : 1;
  const auto n = static_cast<double>(count);
  shape_.length_log2 = LengthLog2(n);
  const uint64_t length = uint64_t{1} << shape_.length_log2;
  const auto entries = static_cast<uint64_t>(n * EntriesAnItem(n));
  shape_.segments = static_cast<uint32_t>(std::max<uint64_t>(1, (entries + length - 1) / length - 2));
}

// Takes the next array of at least `entries` entries whose segments are long for its size.
void BinaryFuseShapes::TakeSmall(uint64_t entries) {
  for (;; ++entries) {
    auto length_log2 = static_cast<uint32_t>(std::countr_zero(entries));
    while (entries >> length_log2 < 3) --length_log2;
    if (entries >> length_log2 > kSmallSegmentsMax) continue;
    shape_ = {.segments = static_cast<uint32_t>((entries >> length_log2) - 2), .length_log2 = length_log2};
    return;
  }
}

void BinaryFuseShapes::Next() {
  const uint64_t entries = shape_.Entries();
  if (entries > 2 * count_ + 64) seeds_ = 256;
  if (IsSmall(count_)) return TakeSmall(entries + 1);
  const uint64_t more = entries / 64;
  shape_.segments += std::max(1u, static_cast<uint32_t>(more >> shape_.length_log2));
}

}  // namespace seen
