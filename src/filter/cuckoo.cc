#include "filter/cuckoo.h"

#include <algorithm>
#include <vector>

#include "base/result.h"
#include "filter/bits.h"
#include "filter/cuckoo_build.h"
#include "filter/cuckoo_places.h"
#include "filter/size_memo.h"
#include "filter/sort_keys.h"

namespace seen {
namespace {

constexpr size_t kBucketsAt = 1, kFieldBytes = 5;

tl::unexpected<Error> Malformed(std::string what) {
  return Fail(Code::kMalformed, "payload: cuckoo filter: " + std::move(what));
}

size_t BytesOf(CuckooShape shape) { return kFieldBytes + BytesOfBits(shape.Places() * shape.entry_bits); }

constexpr size_t kMemoCounts = 16'384;
constinit SizeMemo<8, kMemoCounts> tight_memo;  // buckets; from bit 26 on the bits of an entry, minus one

CuckooShape TightShape(size_t count, double rate) {
  constexpr uint32_t kBucketBits = 26;
  const auto compute = [&] { return CuckooShapeFor(count, rate, TightCuckooBuckets(count), 0); };
  if (count >= kMemoCounts) return compute();
  const uint32_t known = tight_memo.Get(count, rate, [&] {
    const CuckooShape shape = compute();
    return shape.buckets | (shape.entry_bits - 1) << kBucketBits;
  });
  return {.entry_bits = (known >> kBucketBits) + 1, .buckets = known & LowBits(kBucketBits)};
}

}  // namespace

Result<CuckooView> CuckooView::Parse(std::string_view payload) {
  if (payload.size() < kFieldBytes) {
    return Malformed(std::to_string(payload.size()) + " bytes; the fields alone take 5");
  }
  CuckooView view;
  view.shape_ = {.entry_bits = static_cast<uint8_t>(payload[0]),
                 .buckets = GetInteger<uint32_t>(payload, kBucketsAt)};
  if (view.shape_.entry_bits < 2 || view.shape_.entry_bits > 32) {
    return Malformed("f is " + std::to_string(view.shape_.entry_bits) + "; it must be 2 to 32");
  }
  if (view.shape_.buckets == 0) return Malformed("it has no buckets; it must have one at least");
  if (payload.size() != BytesOf(view.shape_)) {
    return Malformed(std::to_string(payload.size()) + " bytes; by its fields it has " +
                     std::to_string(BytesOf(view.shape_)));
  }
  view.buckets_ = PackedBuckets(payload.substr(kFieldBytes), view.shape_.entry_bits, view.shape_.entry_bits);
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
  PutInteger(payload, kBucketsAt, shape.buckets);
  FieldWriter writer(payload.subspan(kFieldBytes));
  for (const uint32_t entry : table.slots()) writer.Put(entry, shape.entry_bits);
  writer.Finish();
}

}  // namespace seen
