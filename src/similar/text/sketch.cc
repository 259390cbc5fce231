#include "similar/text/sketch.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/result.h"
#include "similar/text/hash.h"

namespace seen {
namespace {

// Multipliers of the multiply-shift family (Dietzfelbinger et al. 1997), all odd. Its order stands in for a
// random permutation's order, because the shingles are well mixed already.
constexpr std::array<uint64_t, kBands* kBandRowsMax> kMultipliers = [] {
  std::array<uint64_t, kBands * kBandRowsMax> all{};
  uint64_t state = 0;
  for (uint64_t& one : all) one = Mixed(state += 0x9e3779b97f4a7c15u) | 1;
  return all;
}();

// Distributes the hashes by eight of their bits, then sorts by insertion. There are few enough hashes that
// the first step nearly sorts them.
void SortHashes(std::vector<uint64_t>& hashes, int level, std::vector<uint64_t>& scratch) {
  std::array<uint16_t, 257> place{};
  for (const uint64_t hash : hashes) ++place[(hash << level >> 56) + 1];
  for (size_t i = 1; i < 257; ++i) place[i] = static_cast<uint16_t>(place[i] + place[i - 1]);
  scratch.resize(hashes.size());
  for (const uint64_t hash : hashes) scratch[place[hash << level >> 56]++] = hash;
  for (size_t i = 1; i < scratch.size(); ++i) {
    const uint64_t hash = scratch[i];
    size_t at = i;
    for (; at > 0 && scratch[at - 1] > hash; --at) scratch[at] = scratch[at - 1];
    scratch[at] = hash;
  }
  hashes.swap(scratch);
}

}  // namespace

int BandRows(double similarity_min) {
  int rows = 1;
  double in_all_rows = similarity_min;
  for (int next = 2; next <= static_cast<int>(kBandRowsMax); ++next) {
    in_all_rows *= similarity_min;
    double missed = 1;
    for (size_t band = 0; band < kBands; ++band) missed *= 1 - in_all_rows;
    if (1 - missed < 0.98) break;
    rows = next;
  }
  return rows;
}

SketchBuilder::SketchBuilder(int band_rows) : minima_count_(kBands * static_cast<size_t>(band_rows)) {
  Check(band_rows >= 1 && band_rows <= static_cast<int>(kBandRowsMax), "rows of a band");
  kept_.reserve(kBufferMax);
  scratch_.reserve(kBufferMax);
  minima_.fill(UINT64_MAX);
}

void SketchBuilder::Drain() {
  SortHashes(kept_, level_, scratch_);
  kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
  while (kept_.size() > kSketchMax) {
    ++level_;
    kept_max_ >>= 1;
    kept_.erase(std::upper_bound(kept_.begin(), kept_.end(), kept_max_), kept_.end());
  }
}

void SketchBuilder::TakeMinima() {
  if (waiting_count_ == 0) return;
  any_ = true;
  // Four minima at a time: one alone would wait for its own result.
  static_assert(kBands % 4 == 0);
  for (size_t i = 0; i < minima_count_; i += 4) {
    const uint64_t* const factor = &kMultipliers[i];
    uint64_t a = minima_[i], b = minima_[i + 1], c = minima_[i + 2], d = minima_[i + 3];
    for (size_t j = 0; j < waiting_count_; ++j) {
      const uint64_t shingle = waiting_[j];
      a = std::min(a, shingle * factor[0]);
      b = std::min(b, shingle * factor[1]);
      c = std::min(c, shingle * factor[2]);
      d = std::min(d, shingle * factor[3]);
    }
    minima_[i] = a;
    minima_[i + 1] = b;
    minima_[i + 2] = c;
    minima_[i + 3] = d;
  }
  waiting_count_ = 0;
}

void SketchBuilder::Finish(Sketch& sketch, std::array<uint64_t, kBands>& bands) {
  Drain();
  TakeMinima();
  sketch.level = level_;
  sketch.values.clear();
  for (const uint64_t hash : kept_) {
    const auto value = static_cast<uint16_t>(hash << level_ >> 48);
    if (sketch.values.empty() || sketch.values.back() != value) sketch.values.push_back(value);
  }
  const size_t rows = minima_count_ / kBands;
  for (size_t band = 0; band < kBands; ++band) {
    uint64_t hash = band + 1;
    for (size_t row = 0; row < rows; ++row) hash = Mixed(hash + minima_[band * rows + row]);
    bands[band] = any_ ? hash : 0;
  }
  level_ = 0;
  kept_max_ = UINT64_MAX;
  kept_.clear();
  minima_.fill(UINT64_MAX);
  any_ = false;
}

void SampleInto(std::vector<uint64_t>& hashes, size_t values_max, NumberSketch& out) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  out.level = 0;
  while (hashes.size() > values_max) {
    const uint64_t kept_max = UINT64_MAX >> ++out.level;
    hashes.erase(std::upper_bound(hashes.begin(), hashes.end(), kept_max), hashes.end());
  }
  out.values.clear();
  for (const uint64_t hash : hashes) {
    const auto value = static_cast<uint32_t>(hash << out.level >> 32);
    if (out.values.empty() || out.values.back() != value) out.values.push_back(value);
  }
}

template <typename Value>
std::optional<SketchOverlap> OverlapOf(const SampleOf<Value>& a, const SampleOf<Value>& b) {
  if (a.level > b.level) {
    const auto swapped = OverlapOf(b, a);
    if (!swapped) return std::nullopt;
    return SketchOverlap{swapped->common, swapped->only_b, swapped->only_a};
  }
  const int apart = b.level - a.level;
  if (apart == 0) {
    size_t common = 0, i = 0, j = 0;
    while (i < a.values.size() && j < b.values.size()) {  // no branches: the CPU can't predict the order
      const Value of_a = a.values[i], of_b = b.values[j];
      common += of_a == of_b ? 1u : 0u;
      i += of_a <= of_b ? 1u : 0u;
      j += of_b <= of_a ? 1u : 0u;
    }
    return SketchOverlap{common, a.values.size() - common, b.values.size() - common};
  }
  constexpr uint64_t kMost = std::numeric_limits<Value>::max();
  // Few bits are left to distinguish hashes.
  if (apart >= 8) return std::nullopt;
  // Compares on the bits that both have. Of `a`, the finer sample, it takes those values that the coarser
  // sample would have kept. Values of `b` that become equal count once.
  const auto in_both = static_cast<ptrdiff_t>(
      std::upper_bound(a.values.begin(), a.values.end(), kMost >> apart) - a.values.begin());
  SketchOverlap overlap;
  size_t i = 0, j = 0;
  const auto size_a = static_cast<size_t>(in_both);
  while (i < size_a || j < b.values.size()) {
    const uint64_t of_a = i < size_a ? a.values[i] : kMost + 1;
    const uint64_t of_b = j < b.values.size() ? uint64_t{b.values[j]} >> apart : kMost + 1;
    const uint64_t least = std::min(of_a, of_b);
    ++(of_a == of_b ? overlap.common : of_a < of_b ? overlap.only_a : overlap.only_b);
    if (of_a == least) ++i;
    while (j < b.values.size() && uint64_t{b.values[j]} >> apart == least) ++j;
  }
  return overlap;
}
template std::optional<SketchOverlap> OverlapOf(const Sketch&, const Sketch&);
template std::optional<SketchOverlap> OverlapOf(const NumberSketch&, const NumberSketch&);

double SketchSimilarity(const Sketch& a, const Sketch& b) {
  if (a.values.empty() || b.values.empty()) return 0;
  const auto overlap = OverlapOf(a, b);
  if (!overlap) return 0;
  return static_cast<double>(overlap->common) /
         static_cast<double>(overlap->common + overlap->only_a + overlap->only_b);
}

std::optional<SketchContainment> ContainmentOf(const Sketch& a, const Sketch& b) {
  const auto overlap = OverlapOf(a, b);
  if (!overlap) return std::nullopt;
  const size_t of_a = overlap->common + overlap->only_a, of_b = overlap->common + overlap->only_b;
  const auto [smaller, larger] = std::minmax(of_a, of_b);
  if (smaller == 0) return std::nullopt;
  return SketchContainment{
      .contained = static_cast<double>(overlap->common) / static_cast<double>(smaller),
      .shares = static_cast<double>(smaller) / static_cast<double>(larger),
      .of = smaller << std::max(a.level, b.level),
      .a_is_smaller = of_a <= of_b,
  };
}

namespace {

NumberTag TagOf(uint32_t value, uint8_t level) {
  return static_cast<NumberTag>(value >> level & kNumberTags);
}

NumberSketch Tagged(const NumberSketch& numbers, NumberTag tag) {
  NumberSketch out{numbers.level, {}};
  std::ranges::copy_if(numbers.values, std::back_inserter(out.values),
                       [&](uint32_t value) { return TagOf(value, numbers.level) == tag; });
  return out;
}

bool IsTooMany(size_t differing, size_t common) {
  return differing > 0 && kDifferingOneIn * differing >= common + differing;
}

}  // namespace

bool HasFew(const NumberSketch& numbers) {
  const auto is_number = [](uint32_t value) { return TagOf(value, 0) != NumberTag::kNeighbours; };
  return numbers.level == 0 &&
         static_cast<size_t>(std::ranges::count_if(numbers.values, is_number)) < kFewNumbers;
}

bool NumbersFitAdditions(const NumberSketch& smaller, const NumberSketch& larger, size_t words_added) {
  if (HasFew(larger) && !std::ranges::includes(larger.values, smaller.values)) return false;
  size_t missing = 0, common = 0, words_needed = 0;
  for (const auto& [tag, words] :
       {std::pair(NumberTag::kNumber, kWordsANumber), std::pair(NumberTag::kDate, kWordsADate),
        std::pair(NumberTag::kRepeat, size_t{0})}) {
    const auto overlap = OverlapOf(Tagged(smaller, tag), Tagged(larger, tag));
    if (!overlap) return false;
    missing += overlap->only_a;
    common += overlap->common;
    words_needed += words * (overlap->only_b << std::max(smaller.level, larger.level));
  }
  return !IsTooMany(missing, common) && words_needed <= words_added;
}

bool NumbersDiffer(const NumberSketch& a, const NumberSketch& b) {
  if (HasFew(a) || HasFew(b)) return a.values != b.values;
  const auto overlap = OverlapOf(a, b);
  return !overlap || IsTooMany(std::max(overlap->only_a, overlap->only_b), overlap->common);
}

}  // namespace seen
