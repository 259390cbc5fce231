#include "filter/cuckoo.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/check.h"
#include "filter/cuckoo_build.h"
#include "filter/cuckoo_shape.h"
#include "filter/field_writer.h"
#include "filter/size_memo.h"
#include "filter/sorted.h"

namespace seen {
namespace {

constexpr size_t kBucketsAt = 1, kFieldBytes = 5;

tl::unexpected<Error> Malformed(std::string what) {
  return Fail(Code::kMalformed, "payload: cuckoo filter: " + std::move(what));
}

bool IsFree(uint32_t entry) { return entry == 0; }

size_t BytesOf(CuckooShape shape) { return kFieldBytes + BytesOfBits(shape.Places() * shape.entry_bits); }

constexpr size_t kMemoCounts = 16'384;
constinit SizeMemo<8, kMemoCounts> tight_memo;  // buckets, and from bit 26 on the bits of an entry less one

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

void AppendPayload(const CuckooTable<uint32_t>& table, std::string& out) {
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
  const CuckooShape shape = shape_;  // in registers: the answers could be anything's bytes
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

CuckooFilter::CuckooFilter(size_t count, double rate)
    : table_(CuckooShapeFor(count, rate, RoomyCuckooBuckets(count), 0)) {}

bool CuckooFilter::Insert(Fingerprint fingerprint) {
  const uint64_t hash = HashOf(fingerprint);
  const CuckooShape shape = table_.shape();
  return table_.Insert(shape.FirstOf(hash), shape.EntryOf(hash), IsFree);
}

bool CuckooFilter::MightContain(Fingerprint fingerprint) const { return Find(fingerprint).has_value(); }

bool CuckooFilter::Remove(Fingerprint fingerprint) {
  const auto place = Find(fingerprint);
  if (place) table_[*place] = 0;
  return place.has_value();
}

std::optional<uint64_t> CuckooFilter::Find(Fingerprint fingerprint) const {
  const uint64_t hash = HashOf(fingerprint);
  const uint32_t entry = table_.shape().EntryOf(hash);
  return table_.Find(table_.shape().FirstOf(hash), entry, [&](uint32_t slot) { return slot == entry; });
}

Status CuckooFilter::Merge(const CuckooFilter& other) {
  const CuckooShape shape = table_.shape();
  if (shape != other.table_.shape()) {
    return Fail(Code::kInvalidArgument, "merge: " + std::to_string(other.table_.shape().buckets) +
                                            " buckets of entries of " +
                                            std::to_string(other.table_.shape().entry_bits) + " bits into " +
                                            std::to_string(shape.buckets) + " of " +
                                            std::to_string(shape.entry_bits) + "; both must be sized alike");
  }
  CuckooTable<uint32_t> both = table_;
  for (uint64_t place = 0; place < shape.Places(); ++place) {
    const uint32_t entry = other.table_[place];
    const auto bucket = static_cast<uint32_t>(place / kCuckooBucketPlaces);
    if (entry != 0 && !both.Insert(bucket, entry, IsFree)) {
      return Fail(Code::kInvalidArgument, "merge: no room for both in " + std::to_string(shape.buckets) +
                                              " buckets; size them for the items of both");
    }
  }
  table_ = std::move(both);
  return {};
}

void CuckooFilter::Serialise(std::string& out) const { AppendPayload(table_, out); }

size_t CuckooFilter::PayloadBytes(size_t count, double rate) { return BytesOf(TightShape(count, rate)); }

void CuckooFilter::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  std::vector<Fingerprint> copy;
  const auto sorted = Sorted(fingerprints, copy);
  CuckooShape shape = TightShape(sorted.size(), rate);
  for (;;) {
    const auto table =
        BuildCuckooTable<uint32_t>(sorted, shape, [](uint32_t entry, size_t) { return entry; });
    if (table) return AppendPayload(*table, out);
    Check(shape.buckets <= 16 * sorted.size() + 1024, "no cuckoo filter: repeated fingerprints?");
    shape = CuckooShapeFor(sorted.size(), rate, MoreCuckooBuckets(shape.buckets), 0);
  }
}

}  // namespace seen
