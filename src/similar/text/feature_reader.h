#pragma once
// Text to features: normalise, hash, segment, weigh, fold (docs/SIMILAR.md says what each step does and why).

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "similar/port/options.h"
#include "similar/port/similar_port.h"
#include "similar/text/idf_table.h"
#include "similar/text/item_features.h"
#include "similar/text/segmenter.h"

namespace seen {

struct FeatureOptions {
  std::shared_ptr<const IdfTable> idf;  // never nullptr: IdfTable::Bundled()
  double similarity_min = 0.8;          // chooses the rows of a band
  uint64_t text_bytes_max = 1 << 20;    // for title and text together; cut at a character
  TextRules rules = {};
};

/// A word's share of a SimHash, for people.
struct WeighedToken {
  std::string token;
  double weight = 0;  // occurrences times idf
};

/// One thread each; keeps its buffers.
class FeatureReader {
 public:
  explicit FeatureReader(const FeatureOptions& options);  // with the segmenter of options.rules
  FeatureReader(const FeatureOptions& options, std::unique_ptr<Segmenter> segmenter);
  ~FeatureReader();
  FeatureReader(FeatureReader&&) noexcept;

  void Read(const ItemText& item, ItemFeatures& out);
  /// What went into the SimHash, heaviest first: words, or character n-grams of a short text.
  std::vector<WeighedToken> Explain(const ItemText& item);
  /// In text order, with repetitions, whatever the rules do with them: docs/SIMILAR.md, "Numbers".
  std::vector<std::string> NumbersOf(const ItemText& item);
  /// The words as an IdfTable counts them, in text order, with repetitions; also of a short text. The views
  /// are valid until the next call of any function here.
  std::span<const std::string_view> Words(const ItemText& item);
  /// The text as it is compared: without markup and boilerplate, normalised, folded. Valid until the next
  /// call of any function here.
  std::string_view Normalised(const ItemText& item);
  /// Hashes of all shingles, ascending, unique. A sketch is a sample of this set.
  std::vector<uint64_t> Shingles(const ItemText& item);
  const TextRules& rules() const;
  /// For the log: another segmenter may find other words, and so decide differently at a replay.
  std::string SegmenterVersion() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
