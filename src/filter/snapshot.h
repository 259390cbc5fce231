#pragma once
// The envelope a rendered filter is published and served in. Byte by byte: schemas/snapshot.md.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "filter/snapshot_format.h"
#include "model/day.h"
#include "model/fingerprint.h"

namespace seen {

struct SnapshotMeta {
  SnapshotFormat format = SnapshotFormat::kSplitBlockBloom;
  uint32_t item_count = 0;
  TimeMs as_of;  // partition time: the stream has been read up to here
  Day horizon;   // first UTC day that counts
  int32_t partition = 0;
  int64_t input_offset = 0;           // every record of the partition below it is in
  double false_positive_rate = 0.01;  // as asked
  friend bool operator==(const SnapshotMeta&, const SnapshotMeta&) = default;
};

/// Renders filter and envelope into `bytes`, whose memory is used again. `fingerprints`: unique, in any
/// order. `meta.item_count` is set from them. The rate must lie in (0, 0.5] (checked). Pure, any thread,
/// O(n).
void RenderSnapshot(const SnapshotMeta& meta, std::span<const Fingerprint> fingerprints, std::string& bytes);
std::string RenderSnapshot(const SnapshotMeta& meta, std::span<const Fingerprint> fingerprints);

/// A snapshot's bytes, checked. Points into them.
class SnapshotView {
 public:
  /// kMalformed with what is wrong: magic, version, format, sizes, checksum.
  static Result<SnapshotView> Parse(std::string_view bytes);
  const SnapshotMeta& meta() const { return meta_; }
  std::string_view payload() const { return payload_; }
  bool MightContain(Fingerprint fingerprint) const;
  bool MightContain(std::string_view item_id) const { return MightContain(FingerprintOf(item_id)); }
  /// `answers[i]` is 1 if `fingerprints[i]` may have been seen, else 0. The spans are of one length
  /// (checked).
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  SnapshotMeta meta_;
  std::string_view payload_;
};

}  // namespace seen
