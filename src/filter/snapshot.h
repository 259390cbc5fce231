#pragma once
// The envelope in which a rendered filter is published and served. Byte by byte: schemas/snapshot.md.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "filter/payload.h"
#include "filter/snapshot_format.h"
#include "model/day.h"
#include "model/hashes.h"

namespace seen {

struct SnapshotMeta {
  SnapshotFormat format = SnapshotFormat::kSplitBlockBloom;
  uint32_t item_count = 0;
  TimeMs as_of;  // partition time: the stream has been read up to here
  Day horizon;   // first UTC day that counts
  int32_t partition = 0;
  int64_t input_offset = 0;           // all records of the partition below it are in
  double false_positive_rate = 0.01;  // as asked
  // Events before this time may be missing; nullopt: the whole window is in.
  std::optional<TimeMs> complete_since = std::nullopt;
  // Of input_offset, 1 or more, if the filter also publishes updates (schemas/update.md); 0: it doesn't, or
  // the snapshot is an answer over HTTP.
  int64_t generation = 0;
  friend bool operator==(const SnapshotMeta&, const SnapshotMeta&) = default;
};

/// Renders filter and envelope into `bytes`, whose memory is reused. Format, count and rate of `meta` are
/// ignored: they come from `shape` and `items`. `shape` must be possible (CheckShape). Pure, any thread;
/// O(n), and some kinds sort.
void RenderSnapshot(const SnapshotShape& shape, const SnapshotMeta& meta, const SnapshotItems& items,
                    std::string& bytes);
/// The same, with `similar` as a second filter of the kind that SimilarFormatFor returns. `similar`:
/// NearFingerprintOf items and GroupFingerprintOf groups, unique, in any order. nullopt: the snapshot knows
/// nothing about similar items, which isn't the same as an empty set.
void RenderSnapshot(const SnapshotShape& shape, const SnapshotMeta& meta, const SnapshotItems& items,
                    std::optional<std::span<const Fingerprint>> similar, std::string& bytes);
/// In the format and at the rate of `meta`. If the format needs days, all items count for the horizon's day.
std::string RenderSnapshot(const SnapshotMeta& meta, std::span<const Fingerprint> fingerprints);

/// Turns a published snapshot into an answer over HTTP, which has no generation. `bytes`: checked by
/// SnapshotView::Parse.
void DropGeneration(std::string& bytes);

class SnapshotView;
/// Renders the union of `published` with `items` and `similar`, which are as above, in the envelope of
/// `meta`. The rate is the greater of the rate of `shape` and that of the result. False: `shape` asks for
/// another kind than that of `published`, or the kind takes no more items (CanGrow). Then `bytes` are of no
/// use.
bool RenderUnion(const SnapshotView& published, const SnapshotShape& shape, const SnapshotMeta& meta,
                 std::span<const Fingerprint> items, std::optional<std::span<const Fingerprint>> similar,
                 std::string& bytes);

/// The second filter of a snapshot: what is similar to the items that were seen. Points into the snapshot's
/// bytes.
struct SimilarPart {
  SnapshotFormat format = SnapshotFormat::kSplitBlockBloom;
  uint32_t fingerprint_count = 0;
  std::string_view payload;
  AnyView view;
};

/// A snapshot's bytes, checked. Points into them.
class SnapshotView {
 public:
  /// kMalformed: magic, version, format, sizes or checksum are wrong; the message says which.
  static Result<SnapshotView> Parse(std::string_view bytes);
  const SnapshotMeta& meta() const { return meta_; }
  std::string_view payload() const { return payload_; }  // of the items alone
  const AnyView& view() const { return view_; }          // for functions that only one kind has
  bool MightContain(Fingerprint fingerprint) const;
  bool MightContain(std::string_view item_id) const { return MightContain(FingerprintOf(item_id)); }
  /// `answers[i]` is 1 if `fingerprints[i]` may have been seen, else 0. The spans are of one length
  /// (checked).
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

  /// Whether the snapshot has a filter of what is similar. If it hasn't, all answers below are "no".
  bool has_similar() const { return similar_.has_value(); }
  const std::optional<SimilarPart>& similar() const { return similar_; }
  /// Whether an item similar to this one may have been seen. `item` is its own fingerprint,
  /// FingerprintOf(id). An item that was itself seen need not be near another.
  bool MightBeNear(Fingerprint item) const;
  bool MightBeNear(std::string_view item_id) const { return MightBeNear(FingerprintOf(item_id)); }
  /// Whether an item of this group may have been seen, for a group of several items. `group` is
  /// FingerprintOf(group id).
  bool MightHoldGroup(Fingerprint group) const;
  bool MightHoldGroup(std::string_view group_id) const { return MightHoldGroup(FingerprintOf(group_id)); }

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
