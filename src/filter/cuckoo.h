#pragma once
// A cuckoo filter: buckets of four short entries. An item's entry is in one of two buckets. An item takes
// about log2(1 / rate) + 3.5 bits. Bytes: schemas/snapshot.md, "6: cuckoo filter". Source: Fan, Andersen,
// Kaminsky, Mitzenmacher 2014, "Cuckoo Filter: Practically Better Than Bloom", algorithms 1 to 3.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/cuckoo_places.h"
#include "model/hashes.h"

namespace seen {

/// Points into a payload. Any thread. A look-up reads two buckets: mostly two cache lines.
class CuckooView {
 public:
  /// kMalformed: a field out of range, or a length other than the fields say.
  static Result<CuckooView> Parse(std::string_view payload);
  /// False: certainly not in.
  bool MightContain(Fingerprint fingerprint) const {
    const uint64_t hash = HashOf(fingerprint);
    const uint32_t entry = shape_.EntryOf(hash);
    const uint32_t first = shape_.FirstOf(hash);
    return buckets_.EitherHas(first, shape_.Other(first, entry), entry);
  }
  /// `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  CuckooView() = default;
  CuckooShape shape_;
  PackedBuckets buckets_;
};

/// Payloads of kind 6.
struct CuckooFilter {
  static constexpr bool kSizesExactly = false;  // a set that doesn't fit takes a few more buckets
  /// For `count` items, up to 2^26.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order: the same bytes for the same set. Never fails.
  /// Takes 20 to 40 ns an item.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
  /// Appends the payload of a filled table.
  static void Append(const CuckooTable<uint32_t>& table, std::string& out);
};

}  // namespace seen
