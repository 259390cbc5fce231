#include "filters/mutable/mutable_cuckoo.h"

#include <utility>

#include "filter/cuckoo.h"

namespace seen {
namespace {
bool IsFree(uint32_t entry) { return entry == 0; }
}  // namespace

MutableCuckoo::MutableCuckoo(size_t count, double rate)
    : table_(CuckooShapeFor(count, rate, RoomyCuckooBuckets(count), 0)) {}

bool MutableCuckoo::Insert(Fingerprint fingerprint) {
  const uint64_t hash = HashOf(fingerprint);
  const CuckooShape shape = table_.shape();
  return table_.Insert(shape.FirstOf(hash), shape.EntryOf(hash), IsFree);
}

bool MutableCuckoo::Remove(Fingerprint fingerprint) {
  const auto place = Find(fingerprint);
  if (place) table_[*place] = 0;
  return place.has_value();
}

std::optional<uint64_t> MutableCuckoo::Find(Fingerprint fingerprint) const {
  const uint64_t hash = HashOf(fingerprint);
  const uint32_t entry = table_.shape().EntryOf(hash);
  return table_.Find(table_.shape().FirstOf(hash), entry, [&](uint32_t slot) { return slot == entry; });
}

Status MutableCuckoo::Merge(const MutableCuckoo& other) {
  const CuckooShape shape = table_.shape();
  if (shape != other.table_.shape()) {
    return Fail(Code::kInvalidArgument, "merge: " + std::to_string(other.table_.shape().buckets) +
                                            " buckets of entries of " +
                                            std::to_string(other.table_.shape().entry_bits) + " bits into " +
                                            std::to_string(shape.buckets) + " of " +
                                            std::to_string(shape.entry_bits) + "; both must be sized alike");
  }
  CuckooMoves<uint32_t> both = table_;
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

}  // namespace seen
