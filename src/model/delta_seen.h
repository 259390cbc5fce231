#pragma once
// From a user's encoded state, and what happened since, to the fingerprints an answer is made of, without
// building a Delta where nothing was taken back. One a thread; meant to be used again, for it keeps its
// memory.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/answer_limits.h"
#include "model/change.h"
#include "model/delta.h"
#include "model/delta_view.h"
#include "model/end_table.h"

namespace seen {

/// Tells most fingerprints that aren't in a set of such that are, without a branch: a bit for many of them.
class FingerprintBits {
 public:
  /// Empties it and sizes it for `count`: three in a hundred strangers are taken for one of so many.
  void Reset(size_t count);
  /// False: certainly not added.
  bool Test(Fingerprint fingerprint) const {
    const uint32_t bit = BitOf(fingerprint);
    return (words_[bit / 64] >> (bit % 64) & 1) != 0;
  }
  /// What Test would have said before.
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

/// A set of fingerprints in memory that is used again and again. O(1) an operation.
class FingerprintSet {
 public:
  /// Empties it and makes room for `count_max`.
  void Reset(size_t count_max);
  /// False: it was there.
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
  /// `answers[i]` is 1 if `fingerprints[i]` is in, else 0: for many at once, at half the cost of asking for
  /// each. The spans are of one length.
  void ContainsEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers);
  size_t size() const { return count_; }
  /// In the order they were inserted.
  std::span<const Fingerprint> values() const { return {values_.data(), count_}; }

 private:
  // Where it is, or where it would be.
  size_t CellOf(uint32_t value) const {
    // Multiplied, so that values that share their upper bits don't share a cell.
    size_t at = (value * 0x9e3779b1u) >> shift_;
    while (cells_[at] != 0 && cells_[at] != value) at = (at + 1) & mask_;
    return at;
  }

  std::vector<uint32_t> cells_ = std::vector<uint32_t>(2);  // 0: free
  std::vector<Fingerprint> values_;
  FingerprintBits bits_;           // of ContainsEach,
  std::vector<uint32_t> unclear_;  // and what they don't decide
  size_t count_ = 0;
  size_t mask_ = 1;
  uint32_t shift_ = 31;
  bool has_zero_ = false;
};

class SeenReader {
 public:
  /// `stored`: the encoded delta, empty where there is none. `changes`: what came after it, in log order, of
  /// the user `changed_id`. The result is that of SeenFingerprints over all of it. kCorrupt: `stored` is no
  /// delta.
  Status Read(std::string_view stored, std::string_view changed_id, std::span<const Change> changes,
              const AnswerLimits& limits);

  // Of the last Read that succeeded.
  const FingerprintSet& seen() const { return seen_; }
  FingerprintSet& seen() { return seen_; }
  /// Near and group fingerprints of what was seen, in domains of their own (model/similar_fingerprint.h); as
  /// SimilarFingerprints has them. Empty unless limits.similar.
  const FingerprintSet& similar() const { return similar_; }
  FingerprintSet& similar() { return similar_; }
  /// Empty where unknown. The one they changed under where it is known, though nothing be left of the user.
  const std::string& user_id() const { return user_id_; }
  /// How many exposures are kept in all segments, those of changes counted one by one; whether some segment
  /// has as many items as items_per_day_max allows. Without what is similar.
  uint64_t kept_items() const { return kept_items_; }
  bool met_daily_limit() const { return met_daily_limit_; }
  /// Whether a segment that counts and ended no earlier than `created_second` holds `fingerprint`, which must
  /// be in seen(). False: it is a stranger's, if the item was created then. What was given to Read must still
  /// be there. The first call costs about as much as Read did; several times that where there is more than
  /// exposures.
  bool Holds(Fingerprint fingerprint, uint32_t created_second);
  /// Of each fingerprint in seen() the newest end of what holds it, in no order. As Holds. kCorrupt: the
  /// state isn't what Read took it for.
  Result<std::span<const CountedEnd>> Ends();

 private:
  bool ReadPlain(std::span<const Change> changes, const AnswerLimits& limits, bool& plain);
  enum class OtherPart { kNone, kSome, kAll };  // of a segment, that counts
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
  // For Holds: what Read was given, and the newest end of what holds each, by fingerprint.
  bool stored_ = false;
  std::span<const Change> changes_;
  AnswerLimits limits_;
  bool plain_ = false;  // what Read found is the union of what it decoded and the changes
  EndTable ends_;
  bool ends_are_known_ = false;
};

}  // namespace seen
