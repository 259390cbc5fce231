#pragma once
// What of an item's text decides which other items are like it: made once from the text, stored and compared
// without it. Pure; the same text, table and options give the same features on every machine.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace seen {

/// An item as a reader of text needs it. UTF-8; what isn't valid is taken as U+FFFD.
struct ItemText {
  std::string_view title = {};
  std::string_view text = {};
  std::string_view lang = {};  // BCP 47, e.g. "zh" or "en-GB"; empty: by the script
};

enum class LengthClass : uint8_t {
  kEmpty = 0,  // no word: nothing is like it
  kShort = 1,  // fewer than kShortWords words
  kLong = 2,
};
inline constexpr uint32_t kShortWords = 30;

/// What distances go by: a language counts through its script.
enum class ScriptClass : uint8_t {
  kAlphabetic = 0,  // words between spaces
  kDictionary = 1,  // Chinese, Japanese, Thai, ...: words by a dictionary
};

/// A set of word 3-shingles (of fewer than three words: the one shingle of all) as hashes of which those with
/// `level` leading zero bits are kept, level being the least that leaves kSketchMax or fewer: the whole set
/// of a text of up to kSketchMax shingles, an even sample of a longer one's (adaptive sampling: Wegman;
/// Flajolet, "On Adaptive Sampling", Computing 43, 1990). A value is the 16 bits after the leading zeros.
struct Sketch {
  uint8_t level = 0;
  std::vector<uint16_t> values;  // ascending, unique; at most kSketchMax
  friend bool operator==(const Sketch&, const Sketch&) = default;
};
inline constexpr size_t kSketchMax = 256;

/// Estimate of the Jaccard similarity of the two sets, in [0, 1]: exact, but for hashes that collide by
/// chance, where both levels are 0. 0 where either is empty.
double SketchSimilarity(const Sketch& a, const Sketch& b);

/// MinHash (Broder 1997) over the same shingles, in bands of rows (Leskovec, Rajaraman, Ullman, "Mining of
/// Massive Datasets", 3.4): sets of Jaccard similarity s share a band with probability 1 - (1 -
/// s^rows)^kBands.
inline constexpr size_t kBands = 8;
/// The most rows with which a pair at `similarity_min` shares a band with probability 0.98 or more; 1 to 8.
inline constexpr size_t kBandRowsMax = 8;
int BandRows(double similarity_min);

struct ItemFeatures {
  uint64_t content_hash = 0;  // of the normalised text: equal for verbatim copies
  uint64_t simhash = 0;       // Charikar 2002; of character n-grams where the text is short
  std::array<uint64_t, kBands> bands{};
  Sketch sketch;
  uint32_t words = 0;
  LengthClass length = LengthClass::kEmpty;
  ScriptClass script = ScriptClass::kAlphabetic;
  bool cut = false;  // the text was longer than text_bytes_max: only its beginning counts
};

}  // namespace seen
