#include "filter/cuckoo.h"

#include <cmath>
#include <limits>

#include "filter/cuckoo_build.h"
#include "filter/size_memo.h"
#include "filter/snapshot_format.h"
#include "filter/sort_keys.h"

namespace seen {

namespace {

constexpr double kBucketsMax = 4e9;

// The logarithm of the chance that an item differs from one entry.
double LogDiffers(uint32_t entry_bits) { return std::log1p(-1.0 / LowBits(entry_bits)); }

}  // namespace

double CuckooRate(size_t count, CuckooShape shape) {
  const double compared = 2.0 * static_cast<double>(count) / shape.buckets;  // entries of a look-up
  return -std::expm1(compared * LogDiffers(shape.entry_bits));
}

CuckooShape CuckooShapeFor(size_t count, double rate, uint32_t buckets_min, uint32_t more_bits) {
  Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]");
  Check(count <= kCuckooCountMax, "too many items for one filter");
  rate = std::max(rate, kRateMin);
  const double compared_for_one = 2.0 * static_cast<double>(count) / std::log1p(-rate);
  CuckooShape best;
  uint64_t best_bits = std::numeric_limits<uint64_t>::max();
  for (uint32_t entry_bits = 2; entry_bits <= 32; ++entry_bits) {
    const double needed = std::ceil(compared_for_one * LogDiffers(entry_bits));
    if (needed > kBucketsMax) continue;
    CuckooShape shape = {.entry_bits = entry_bits,
                         .buckets = std::max({uint32_t{1}, buckets_min, static_cast<uint32_t>(needed)})};
    const uint64_t bits = shape.Places() * (entry_bits + more_bits);
    if (bits < best_bits) {
      best = shape;
      best_bits = bits;
    }
    if (needed <= buckets_min) break;  // more bits are of no use then
  }
  return best;
}

uint32_t TightCuckooBuckets(size_t count) {
  // Measured with CuckooBuild: the first try succeeds for six tenths of sets of 40 items, and for nine tenths
  // of sets of 100, 1,000 and 3,000. It succeeds for nearly all larger sets, but for none above a load of
  // 0.98.
  const size_t fewest = (count + kCuckooBucketPlaces - 1) / kCuckooBucketPlaces;
  if (count <= 48) return static_cast<uint32_t>(std::max<size_t>(1, fewest));
  return static_cast<uint32_t>(std::ceil(static_cast<double>(count) / (kCuckooBucketPlaces * 0.976)));
}

uint32_t MoreCuckooBuckets(uint32_t buckets) { return buckets + 1 + buckets / 128; }

namespace {

constexpr size_t kCuckooBucketsAt = 1, kCuckooFieldBytes = 5;

size_t BytesOf(CuckooShape shape) {
  return kCuckooFieldBytes + BytesOfBits(shape.Places() * shape.entry_bits);
}

constinit SizeMemo<8> tight_memo;  // buckets; from bit 26 on the bits of an entry, minus one

CuckooShape TightShape(size_t count, double rate) {
  constexpr uint32_t kBucketBits = 26;
  const auto compute = [&] { return CuckooShapeFor(count, rate, TightCuckooBuckets(count), 0); };
  if (count >= kCountsRemembered) return compute();
  const uint32_t known = tight_memo.Get(count, rate, [&] {
    const CuckooShape shape = compute();
    return shape.buckets | (shape.entry_bits - 1) << kBucketBits;
  });
  return {.entry_bits = (known >> kBucketBits) + 1, .buckets = known & LowBits(kBucketBits)};
}

}  // namespace

Result<CuckooView> CuckooView::Parse(std::string_view payload) {
  if (payload.size() < kCuckooFieldBytes) {
    return Malformed("cuckoo filter: " + std::to_string(payload.size()) + " bytes; the fields alone take 5");
  }
  CuckooView view;
  view.shape_ = {.entry_bits = static_cast<uint8_t>(payload[0]),
                 .buckets = GetInteger<uint32_t>(payload, kCuckooBucketsAt)};
  if (view.shape_.entry_bits < 2 || view.shape_.entry_bits > 32) {
    return Malformed("cuckoo filter: f is " + std::to_string(view.shape_.entry_bits) +
                     "; it must be 2 to 32");
  }
  if (view.shape_.buckets == 0)
    return Malformed("cuckoo filter: it has no buckets; it must have one at least");
  if (payload.size() != BytesOf(view.shape_)) {
    return Malformed("cuckoo filter: " + std::to_string(payload.size()) + " bytes; by its fields it has " +
                     std::to_string(BytesOf(view.shape_)));
  }
  view.buckets_ =
      PackedBuckets(payload.substr(kCuckooFieldBytes), view.shape_.entry_bits, view.shape_.entry_bits);
  return view;
}

void CuckooView::MightContainEach(std::span<const Fingerprint> fingerprints,
                                  std::span<uint8_t> answers) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  const CuckooShape shape = shape_;  // copies in registers: `answers` could alias anything
  const PackedBuckets buckets = buckets_;
  buckets.WithLanes([&](auto lanes) {
    for (size_t i = 0; i < fingerprints.size(); ++i) {
      const uint64_t hash = HashOf(fingerprints[i]);
      const uint32_t entry = shape.EntryOf(hash);
      const uint32_t first = shape.FirstOf(hash);
      const bool found =
          buckets.Has<lanes>(first, entry) | buckets.Has<lanes>(shape.Other(first, entry), entry);
      answers[i] = found ? 1 : 0;
    }
  });
}

size_t CuckooFilter::PayloadBytes(size_t count, double rate) { return BytesOf(TightShape(count, rate)); }

void CuckooFilter::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  std::vector<Fingerprint> copy;
  const auto sorted = Sorted(fingerprints, copy);
  CuckooShape shape = TightShape(sorted.size(), rate);
  for (;;) {
    const auto table =
        BuildCuckooTable<uint32_t>(sorted, shape, [](uint32_t entry, size_t) { return entry; });
    if (table) return Append(*table, out);
    Check(shape.buckets <= 16 * sorted.size() + 1024, "no cuckoo filter: repeated fingerprints?");
    shape = CuckooShapeFor(sorted.size(), rate, MoreCuckooBuckets(shape.buckets), 0);
  }
}

void CuckooFilter::Append(const CuckooTable<uint32_t>& table, std::string& out) {
  const CuckooShape shape = table.shape();
  const size_t at = out.size();
  out.resize(at + BytesOf(shape));
  const auto payload = std::span(out).subspan(at);
  PutInteger(payload, 0, static_cast<uint8_t>(shape.entry_bits));
  PutInteger(payload, kCuckooBucketsAt, shape.buckets);
  FieldWriter writer(payload.subspan(kCuckooFieldBytes));
  for (const uint32_t entry : table.slots()) writer.Put(entry, shape.entry_bits);
  writer.Finish();
}

}  // namespace seen
