#pragma once
// Reads the fingerprints of an answer from a user's encoded state and the changes since. Builds a Delta only
// if something was taken back or a limit may apply. Keeps its memory: use one per thread, again and again.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/probed_cells.h"
#include "base/result.h"
#include "model/answer_limits.h"
#include "model/change.h"
#include "model/delta.h"
#include "model/delta_view.h"

namespace seen {

/// The ends of a user's items, looked up by fingerprint. Keeps its memory: use it again and again. Not
/// thread-safe. O(1) an operation.
class EndTable {
 public:
  /// Empties it and makes space for `count_max` fingerprints.
  void Reset(size_t count_max) {
    cells_.Reset(std::bit_ceil(std::max<size_t>(count_max * 2, 2)));
    values_.clear();
  }

  /// If a fingerprint has several ends, the newest second and day count, and the earliest first second.
  void Add(const CountedEnd& end) {
    const uint32_t cell = CellOf(end.fingerprint);
    if (cell == 0) {
      values_.push_back(end);
      return cells_.Insert(end.fingerprint.value, static_cast<uint32_t>(values_.size()));
    }
    CountedEnd& known = values_[cell - 1];
    known.second = std::max(known.second, end.second);
    known.first_second = std::min(known.first_second, end.first_second);
    known.day = std::max(known.day, end.day);
  }

  /// nullptr: there is none.
  const CountedEnd* Find(Fingerprint fingerprint) const {
    const uint32_t cell = CellOf(fingerprint);
    return cell == 0 ? nullptr : &values_[cell - 1];
  }

  /// In the order they were first added.
  std::span<const CountedEnd> values() const { return values_; }

 private:
  uint32_t CellOf(Fingerprint fingerprint) const {
    return cells_.Find(fingerprint.value,
                       [&](uint32_t cell) { return values_[cell - 1].fingerprint == fingerprint; });
  }

  ProbedCells<uint32_t> cells_{2};  // a place in values_ + 1
  std::vector<CountedEnd> values_;
};

/// A bit table in front of a set. Without a branch, it rules out most fingerprints that aren't in the set.
/// Each bit stands for many fingerprints.
class FingerprintBits {
 public:
  /// Empties it and sizes it for `count` fingerprints. Test is then wrongly true for three in a hundred
  /// others.
  void Reset(size_t count);
  /// False: certainly not added.
  bool Test(Fingerprint fingerprint) const {
    const uint32_t bit = BitOf(fingerprint);
    return (words_[bit / 64] >> (bit % 64) & 1) != 0;
  }
  /// Returns what Test returned before.
  bool Add(Fingerprint fingerprint) {
    const uint32_t bit = BitOf(fingerprint);
    uint64_t& word = words_[bit / 64];
    const uint64_t before = word;
    word = before | uint64_t{1} << (bit % 64);
    return (before >> (bit % 64) & 1) != 0;
  }

 private:
  uint32_t BitOf(Fingerprint fingerprint) const { return (fingerprint.value * 0x9e3779b1u) >> shift_; }

  std::vector<uint64_t> words_ = std::vector<uint64_t>(1);
  uint32_t shift_ = 26;
};

/// A set of fingerprints in memory, made for reuse. O(1) an operation.
class FingerprintSet {
 public:
  /// Empties it and makes space for `count_max`.
  void Reset(size_t count_max);
  /// False: it was there already.
  bool Insert(Fingerprint fingerprint) {
    if (fingerprint.value == 0) {
      if (has_zero_) return false;
      has_zero_ = true;
    } else {
      uint32_t& cell = cells_[CellOf(fingerprint.value)];
      if (cell != 0) return false;
      cell = fingerprint.value;
    }
    values_[count_++] = fingerprint;
    return true;
  }
  bool Contains(Fingerprint fingerprint) const {
    return fingerprint.value == 0 ? has_zero_ : cells_[CellOf(fingerprint.value)] != 0;
  }
  /// Sets `answers[i]` to 1 if the set has `fingerprints[i]`, else to 0. Costs half of asking for each one.
  /// Both spans have the same length.
  void ContainsEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers);
  size_t size() const { return count_; }
  /// In the order they were inserted.
  std::span<const Fingerprint> values() const { return {values_.data(), count_}; }

 private:
  // The cell that has `value`, or the free cell where it belongs.
  size_t CellOf(uint32_t value) const {
    // The multiplication spreads values with equal upper bits over different cells.
    size_t at = (value * 0x9e3779b1u) >> shift_;
    while (cells_[at] != 0 && cells_[at] != value) at = (at + 1) & mask_;
    return at;
  }

  std::vector<uint32_t> cells_ = std::vector<uint32_t>(2);  // 0: free
  std::vector<Fingerprint> values_;
  FingerprintBits bits_;           // for ContainsEach
  std::vector<uint32_t> unclear_;  // for ContainsEach: what bits_ doesn't decide
  size_t count_ = 0;
  size_t mask_ = 1;
  uint32_t shift_ = 31;
  bool has_zero_ = false;
};

class SeenReader {
 public:
  /// `stored`: the encoded delta, empty if there is none. `changes`: the changes since, in log order, of the
  /// user `changed_id`. The result equals SeenFingerprints of both together. kCorrupt: `stored` is no delta.
  Status Read(std::string_view stored, std::string_view changed_id, std::span<const Change> changes,
              const AnswerLimits& limits);

  // Of the last Read that succeeded.
  const FingerprintSet& seen() const { return seen_; }
  FingerprintSet& seen() { return seen_; }
  /// Near and group fingerprints of the seen items, in domains of their own (model/hashes.h).
  /// Equal to SimilarFingerprints. Empty unless limits.similar.
  const FingerprintSet& similar() const { return similar_; }
  FingerprintSet& similar() { return similar_; }
  /// The user id, empty if unknown. If `changed_id` was given, the id is known even when the user has no item
  /// left.
  const std::string& user_id() const { return user_id_; }
  /// kept_items: how many entries all segments hold; each change may count as one more. met_daily_limit:
  /// whether some segment has as many items as items_per_day_max allows. Neither counts segments of kind 5.
  uint64_t kept_items() const { return kept_items_; }
  bool met_daily_limit() const { return met_daily_limit_; }
  /// Whether served items count, or would if nothing took them back.
  bool has_served() const { return has_served_; }
  /// Whether `fingerprint`, which must be in seen(), is in a segment that counts and ended no earlier than
  /// `created_second`. False: if the item was created then, another item with the same fingerprint was seen.
  /// The arguments of Read must still be valid. The first call costs about as much as Read did. It costs
  /// several times that if there are other kinds than exposures.
  bool Holds(Fingerprint fingerprint, uint32_t created_second);
  /// For each fingerprint in seen(), the newest end of the segments that hold it, in no order. Conditions and
  /// cost are those of Holds. kCorrupt: the state has other fingerprints than Read found.
  Result<std::span<const CountedEnd>> Ends();

 private:
  bool ReadPlain(std::span<const Change> changes, const AnswerLimits& limits, bool& plain);
  enum class OtherPart { kNone, kSome, kAll };  // how much of a segment counts
  static OtherPart PartOf(const OtherView& other, Day first_day, const AnswerLimits& limits);
  bool ReadComposed(const AnswerLimits& limits);
  bool ReadPlainSimilar(std::span<const Change> changes, size_t count, Day first_day);
  bool Compose(Delta& composed) const;
  void FindEnds();
  bool FindEndsOfExposures();

  DeltaView view_;
  std::vector<RiceCode> codes_;
  std::vector<Fingerprint> decoded_;
  FingerprintSet seen_;
  FingerprintSet similar_;
  std::vector<RiceCode> similar_codes_;
  std::vector<Fingerprint> decoded_similar_;
  std::string user_id_;
  uint64_t kept_items_ = 0;
  bool met_daily_limit_ = false;
  bool has_served_ = false;
  // For Holds and Ends: the arguments of Read, and the newest ends by fingerprint.
  bool stored_ = false;
  std::span<const Change> changes_;
  AnswerLimits limits_;
  bool plain_ = false;  // what Read found is the union of the decoded fingerprints and the changes
  EndTable ends_;
  bool ends_are_known_ = false;
};

}  // namespace seen
