#pragma once
// The envelope a rendered filter is published and served in. Byte by byte: schemas/snapshot.md.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "filter/any_view.h"
#include "filter/render_payload.h"
#include "filter/snapshot_format.h"
#include "model/day.h"
#include "model/fingerprint.h"
#include "model/similar_fingerprint.h"

namespace seen {

struct SnapshotMeta {
  SnapshotFormat format = SnapshotFormat::kSplitBlockBloom;
  uint32_t item_count = 0;
  TimeMs as_of;  // partition time: the stream has been read up to here
  Day horizon;   // first UTC day that counts
  int32_t partition = 0;
  int64_t input_offset = 0;           // every record of the partition below it is in
  double false_positive_rate = 0.01;  // as asked
  // Some of what came before it may be missing; nullopt: nothing of the window is.
  std::optional<TimeMs> complete_since = std::nullopt;
  friend bool operator==(const SnapshotMeta&, const SnapshotMeta&) = default;
};

/// Renders filter and envelope into `bytes`, whose memory is used again. Format, count and rate of `meta` are
/// set from `shape`, which must be possible (CheckShape), and `items`. Pure, any thread; O(n), but that some
/// kinds sort.
void RenderSnapshot(const SnapshotShape& shape, const SnapshotMeta& meta, const SnapshotItems& items,
                    std::string& bytes);
/// With `similar`, unique and in any order, as a second filter of the kind SimilarFormatFor names:
/// NearFingerprintOf items and GroupFingerprintOf groups. nullopt: the filter knows nothing of what is
/// similar, which isn't the same as an empty set.
void RenderSnapshot(const SnapshotShape& shape, const SnapshotMeta& meta, const SnapshotItems& items,
                    std::optional<std::span<const Fingerprint>> similar, std::string& bytes);
/// Of the format and at the rate of `meta`. Where days are needed, all items count for the horizon's.
std::string RenderSnapshot(const SnapshotMeta& meta, std::span<const Fingerprint> fingerprints);

class SnapshotView;
/// The union of `published` with `items` and `similar`, which are as above, in the envelope of `meta`. The
/// rate is the greater of that of `shape` and what the result has. False, and `bytes` are of no use: `shape`
/// asks for another kind than `published` is of, or the kind takes no more items (CanGrow).
bool RenderUnion(const SnapshotView& published, const SnapshotShape& shape, const SnapshotMeta& meta,
                 std::span<const Fingerprint> items, std::optional<std::span<const Fingerprint>> similar,
                 std::string& bytes);

/// The second filter of a snapshot: what is like the items that were seen. Points into its bytes.
struct SimilarPart {
  SnapshotFormat format = SnapshotFormat::kSplitBlockBloom;
  uint32_t fingerprint_count = 0;
  std::string_view payload;
  AnyView view;
};

/// A snapshot's bytes, checked. Points into them.
class SnapshotView {
 public:
  /// kMalformed with what is wrong: magic, version, format, sizes, checksum.
  static Result<SnapshotView> Parse(std::string_view bytes);
  const SnapshotMeta& meta() const { return meta_; }
  std::string_view payload() const { return payload_; }  // of the items alone
  const AnyView& view() const { return view_; }          // for what a kind alone can say
  bool MightContain(Fingerprint fingerprint) const;
  bool MightContain(std::string_view item_id) const { return MightContain(FingerprintOf(item_id)); }
  /// `answers[i]` is 1 if `fingerprints[i]` may have been seen, else 0. The spans are of one length
  /// (checked).
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

  /// Whether it says what is similar. All answers below are "no" where it doesn't.
  bool has_similar() const { return similar_.has_value(); }
  const std::optional<SimilarPart>& similar() const { return similar_; }
  /// Whether an item like this one may have been seen. `item` is its own fingerprint, FingerprintOf(id). One
  /// that was itself seen need not be near another.
  bool MightBeNear(Fingerprint item) const;
  bool MightBeNear(std::string_view item_id) const { return MightBeNear(FingerprintOf(item_id)); }
  /// Whether an item of this group that has others may have been seen; `group` is FingerprintOf(group id).
  bool MightHoldGroup(Fingerprint group) const;
  bool MightHoldGroup(std::string_view group_id) const { return MightHoldGroup(FingerprintOf(group_id)); }
  /// As MightContainEach.
  void MightBeNearEach(std::span<const Fingerprint> items, std::span<uint8_t> answers) const;
  void MightHoldGroupEach(std::span<const Fingerprint> groups, std::span<uint8_t> answers) const;

 private:
  SnapshotView(const SnapshotMeta& meta, std::string_view payload, AnyView view,
               std::optional<SimilarPart> similar)
      : meta_(meta), payload_(payload), view_(std::move(view)), similar_(std::move(similar)) {}

  SnapshotMeta meta_;
  std::string_view payload_;
  AnyView view_;
  std::optional<SimilarPart> similar_;
};

}  // namespace seen
