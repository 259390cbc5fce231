#pragma once
// The features of an item's text, which decide which other items are similar. They are computed once from the
// text, then stored and compared without it. Pure: the same text, table and options give the same features on
// every machine.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace seen {

enum class LengthClass : uint8_t {
  kEmpty = 0,  // no word, or a placeholder: similar to no item
  kShort = 1,  // fewer than kShortWords words
  kLong = 2,
  kTooShort = 3,  // fewer than TextRules::tokens_min different words: similar to equal texts only
};
inline constexpr uint32_t kShortWords = 30;

/// Decides the greatest distance (DistanceMax). A language counts through its script.
enum class ScriptClass : uint8_t {
  kAlphabetic = 0,  // words between spaces
  kDictionary = 1,  // Chinese, Japanese, Thai, ...: words by a dictionary
};

/// A sample of a text's word 3-shingles, as hashes. A text of fewer than three words has one shingle of all
/// of its words. The sample keeps the hashes with at least `level` leading zero bits. `level` is the least
/// that leaves kSketchMax or fewer hashes. So a text of up to kSketchMax shingles keeps the whole set, and a
/// longer one an even sample. A value is the bits after the `level` zeros. Adaptive sampling: Wegman;
/// Flajolet, "On Adaptive Sampling", Computing 43, 1990.
template <typename Value>
struct SampleOf {
  uint8_t level = 0;
  std::vector<Value> values;  // ascending, unique; at most kSketchMax
  friend bool operator==(const SampleOf&, const SampleOf&) = default;
};
using Sketch = SampleOf<uint16_t>;
inline constexpr size_t kSketchMax = 256;

/// How many values two sketches have, on the coarser of both levels.
struct SketchOverlap {
  size_t common = 0, only_a = 0, only_b = 0;
};
/// nullopt: the levels are too far apart, so the sizes of the sets differ by a factor of about 2^8.
/// Defined for Sketch and NumberSketch.
template <typename Value>
std::optional<SketchOverlap> OverlapOf(const SampleOf<Value>& a, const SampleOf<Value>& b);

/// Estimates the Jaccard similarity of the two sets, in [0, 1]. Exact where both levels are 0, except for
/// hashes that collide by chance. 0 where either set is empty.
double SketchSimilarity(const Sketch& a, const Sketch& b);

/// How much of the smaller set is in the larger: 1 if all of it is. By one sample of both sets, as
/// SketchSimilarity.
struct SketchContainment {
  double contained = 0;
  double shares = 0;         // the smaller set's size divided by the larger's
  size_t of = 0;             // the smaller set's size, estimated
  bool a_is_smaller = true;  // or as large
};
/// nullopt: a set is empty, or the levels are too far apart.
std::optional<SketchContainment> ContainmentOf(const Sketch& a, const Sketch& b);

/// A sample of a text's numbers. A number that comes three times gives three values. Two different numbers in
/// a million pairs of them have one value by chance at most. Two bits of a hash are its tag: in a value,
/// those from bit `level` on.
using NumberSketch = SampleOf<uint32_t>;
enum class NumberTag : uint8_t {
  kNumber = 0,
  kNeighbours = 1,  // two numbers that stand close together, in their order; only of few numbers
  kDate = 2,
  kRepeat = 3,  // of a number or a date that stands before it
};
inline constexpr uint8_t kNumberTags = 3;
inline constexpr size_t kNumbersMax = 64;
/// Fewer than one number in so many may differ.
inline constexpr size_t kDifferingOneIn = 10;
/// A text of fewer numbers has few: none may differ. So its bands name them.
inline constexpr size_t kFewNumbers = kDifferingOneIn;
bool HasFew(const NumberSketch& numbers);
/// True unless the numbers that differ are less than a tenth of all numbers of the text that has more. An
/// estimate if that text has more than kNumbersMax.
bool NumbersDiffer(const NumberSketch& a, const NumberSketch& b);
/// Whether a text may be another one with additions of so many words. It has the numbers of the other one:
/// less than a tenth may be missing. Additions are words, not numbers alone. A date comes with a few words:
/// it says when a copy was made. Another number comes with a sentence: "Episode 2 of the drama" is no
/// addition. A repeat needs no words, because bodies repeat their headlines.
bool NumbersFitAdditions(const NumberSketch& smaller, const NumberSketch& larger, size_t words_added);
inline constexpr size_t kWordsADate = 3;
inline constexpr size_t kWordsANumber = 8;

/// MinHash (Broder 1997) over the same shingles, in bands of rows (Leskovec, Rajaraman, Ullman, "Mining of
/// Massive Datasets", 3.4). Sets of Jaccard similarity s share a band with probability
/// 1 - (1 - s^rows)^kBands.
inline constexpr size_t kBands = 8;
/// The greatest number of rows (1 to 8) with which a pair at `similarity_min` shares a band with probability
/// 0.98 or more.
inline constexpr size_t kBandRowsMax = 8;
int BandRows(double similarity_min);

/// A text and the same text with additions behind it begin alike. So a list names a text by the hash of its
/// beginning: a quarter to a half of it, of 2^n shingles. A text with up to twice as many is found by its own
/// beginning of that length. The hash is of kBeginningRows minima, so that a changed title often does no
/// harm.
inline constexpr size_t kBeginningRows = 2;
/// A text of fewer shingles has no beginning, and too few shingles to say that another text contains it.
inline constexpr size_t kContainedMin = 64;

struct ItemFeatures {
  uint64_t content_hash = 0;  // of the normalised text and its numbers: equal for verbatim copies
  uint64_t simhash = 0;       // Charikar 2002; of character n-grams if the text is short
  std::array<uint64_t, kBands> bands{};
  uint64_t beginning = 0;  // lists name the text by it; 0: none
  /// Beginnings half as long and twice as long, by which lists name shorter and longer texts. An index
  /// doesn't keep them.
  std::array<uint64_t, 2> other_beginnings{};
  Sketch sketch;
  NumberSketch numbers;  // empty if the rules ignore them
  uint32_t words = 0;
  LengthClass length = LengthClass::kEmpty;
  ScriptClass script = ScriptClass::kAlphabetic;
  bool cut = false;  // the text was longer than text_bytes_max: only its beginning counts
};

}  // namespace seen
