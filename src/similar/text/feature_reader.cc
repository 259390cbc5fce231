#include "similar/text/feature_reader.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/result.h"
#include "similar/text/characters.h"
#include "similar/text/folding.h"
#include "similar/text/hash.h"
#include "similar/text/normalise.h"
#include "similar/text/numbers.h"
#include "similar/text/placeholders.h"
#include "similar/text/simhash.h"
#include "similar/text/sketch.h"
#include "similar/text/stop_words.h"

namespace seen {
namespace {

constexpr size_t kShingleWords = 3;
// Two characters of a dictionary script say as much as four letters.
constexpr size_t kGramOfAlphabetic = 4;
constexpr size_t kGramOfDictionary = 2;
// The weight of an idf of 1. SimHash adds whole numbers.
constexpr double kWeightOne = 32;
// A longer text doesn't leave its buffers behind.
constexpr size_t kKeptBytesMax = 8 << 20;

constexpr std::array<uint64_t, kShingleWords> kPlaceFactors = {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu,
                                                               0xd6e8feb86659fd93u};

uint64_t ShingleHash(const uint64_t* words, size_t count) {
  uint64_t sum = count;
  for (size_t i = 0; i < count; ++i) sum += words[i] * kPlaceFactors[i];
  return Mixed(sum);
}

template <typename Take>
void ForEachShingle(std::span<const uint64_t> hashes, Take take) {
  if (hashes.empty()) return;
  if (hashes.size() < kShingleWords) return take(ShingleHash(hashes.data(), hashes.size()));
  for (size_t i = 0; i + kShingleWords <= hashes.size(); ++i) take(ShingleHash(&hashes[i], kShingleWords));
}

}  // namespace

struct FeatureReader::Impl {
  struct Stretch {
    size_t first = 0, last = 0;
  };

  FeatureOptions options;
  std::unique_ptr<Segmenter> segmenter;
  Normaliser normaliser;
  NormalText normal;
  std::vector<std::string_view> words;
  std::vector<uint64_t> hashes;  // of words
  size_t dictionary_words = 0;
  std::vector<uint32_t> ends;
  // What kBigramsTrigrams and kDictionaryTrigrams need beside the words' 3-shingles: where neighbouring
  // characters are in `hashes` or in `characters`.
  std::vector<Stretch> stretches;
  std::vector<uint64_t> characters;  // hashes; kDictionaryTrigrams only
  SketchBuilder sketches;
  SimHasher simhasher;
  NumberFinder numbers;
  std::vector<uint64_t> captions;   // hashes of placeholders, ascending
  std::string kept;                 // the words of a text that may be a placeholder
  std::vector<Stretch> kept_runs;   // bytes of `kept`
  std::vector<uint64_t> different;  // hashes of words, ascending

  Impl(const FeatureOptions& given, std::unique_ptr<Segmenter> segmenter_given)
      : options(given),
        segmenter(std::move(segmenter_given)),
        normaliser(given.rules),
        sketches(BandRows(given.similarity_min)) {
    Check(options.idf != nullptr && segmenter != nullptr,
          "a reader of features needs a table and a segmenter");
    if (options.rules.version >= 5) ReadCaptions();
  }

  void ReadCaptions() {
    for (const std::string_view caption : Placeholders()) {
      normaliser.Read({.text = caption}, options.text_bytes_max, normal);
      KeepWords();
      captions.push_back(TokenHash(kept));
    }
    std::sort(captions.begin(), captions.end());
  }

  /// Fills `kept`: without links and emoji, and folded, whatever the text's language. False: there is more
  /// than two captions have.
  bool KeepWords() {
    kept.clear();
    kept_runs.clear();
    bool after_word = false;
    for (const Run& run : normal.runs) {
      if (run.in_link || run.kind == RunKind::kSymbol) continue;
      const bool fits = kept.size() + run.end - run.begin <= 2 * kCaptionBytesMax;
      if (!fits || kept_runs.size() == 2 * kCaptionWordsMax) return false;
      if (after_word && run.kind == RunKind::kWord) kept += ' ';
      after_word = run.kind == RunKind::kWord;
      const size_t begin = kept.size();
      const std::string_view letters = std::string_view(normal.text).substr(run.begin, run.end - run.begin);
      if (run.kind == RunKind::kWord) {
        kept += letters;
      } else {
        for (size_t at = 0; at < letters.size();)
          AppendUtf8(FoldingTable::Bundled().Of(NextCharacter(letters, at)), kept);
      }
      kept_runs.push_back({begin, kept.size()});
    }
    return true;
  }

  /// A caption, or one as title and one as text.
  bool IsPlaceholder() {
    if (captions.empty() || !KeepWords() || kept_runs.empty()) return false;
    const auto is_caption = [&](size_t begin, size_t end) {
      const uint64_t hash = TokenHash(std::string_view(kept).substr(begin, end - begin));
      return std::binary_search(captions.begin(), captions.end(), hash);
    };
    if (is_caption(0, kept.size())) return true;
    for (size_t i = 1; i < kept_runs.size(); ++i) {
      if (is_caption(0, kept_runs[i - 1].last) && is_caption(kept_runs[i].first, kept.size())) return true;
    }
    return false;
  }

  void FindWords(const ItemText& item) {
    normaliser.Read(item, options.text_bytes_max, normal);
    words.clear();
    dictionary_words = 0;
    stretches.clear();
    characters.clear();
    bool neighbours = false;
    const std::string_view text = normal.text;
    for (const Run& run : normal.runs) {
      const std::string_view letters = text.substr(run.begin, run.end - run.begin);
      if (run.kind != RunKind::kDictionary) {
        words.push_back(letters);
        neighbours = false;
        continue;
      }
      const size_t first_word = words.size();
      ends.clear();
      segmenter->Segment(letters, ends);
      uint32_t begin = 0;
      for (const uint32_t end : ends) {
        words.push_back(letters.substr(begin, end - begin));
        begin = end;
      }
      dictionary_words += ends.size();
      NoteStretch(letters, first_word, neighbours);
      neighbours = true;
    }
  }

  // `neighbours`: the run before was of a script without spaces too.
  void NoteStretch(std::string_view letters, size_t first_word, bool neighbours) {
    Stretch stretch{first_word, words.size()};
    switch (options.rules.segmentation) {
      case Segmentation::kTrigrams:
      case Segmentation::kDictionary:
        return;
      case Segmentation::kBigramsTrigrams:
        break;
      case Segmentation::kDictionaryTrigrams:
        stretch.first = characters.size();
        for (size_t at = 0, begin = 0; at < letters.size(); begin = at) {
          NextCharacter(letters, at);
          characters.push_back(TokenHash(letters.substr(begin, at - begin)));
        }
        stretch.last = characters.size();
    }
    if (neighbours) {
      stretches.back().last = stretch.last;
    } else {
      stretches.push_back(stretch);
    }
  }

  /// Calls `take`(hash) for each shingle; the same shingle may come several times.
  template <typename Take>
  void ForEachShingleOfText(Take take) const {
    ForEachShingle(hashes, take);
    const bool of_characters = options.rules.segmentation == Segmentation::kDictionaryTrigrams;
    const std::vector<uint64_t>& from = of_characters ? characters : hashes;
    const size_t size = of_characters ? kShingleWords : 2;
    for (const Stretch& stretch : stretches) {
      for (size_t i = stretch.first; i + size <= stretch.last; ++i) take(ShingleHash(&from[i], size));
    }
  }

  void HashWords() {
    hashes.clear();
    for (const std::string_view word : words) hashes.push_back(TokenHash(word));
  }

  ScriptClass Script() const {
    return 2 * dictionary_words > words.size() ? ScriptClass::kDictionary : ScriptClass::kAlphabetic;
  }
  LengthClass Length() const {
    return words.empty()                ? LengthClass::kEmpty
           : words.size() < kShortWords ? LengthClass::kShort
                                        : LengthClass::kLong;
  }

  LengthClass LengthOf() {
    if (IsPlaceholder()) return LengthClass::kEmpty;
    return words.empty() || HasDifferentWords(options.rules.tokens_min) ? Length() : LengthClass::kTooShort;
  }

  /// At least `count` of them.
  bool HasDifferentWords(size_t count) {
    different.clear();
    for (size_t i = 0; i < hashes.size() && different.size() < count; ++i) {
      const auto place = std::lower_bound(different.begin(), different.end(), hashes[i]);
      if (place == different.end() || *place != hashes[i]) different.insert(place, hashes[i]);
    }
    return different.size() >= count;
  }

  /// Copies have the same numbers, so their content hash names these. A text with few numbers is similar only
  /// to texts with the same ones. So its lists needn't name others.
  void ReadNumbers(ItemFeatures& out) {
    out.numbers.level = 0;
    out.numbers.values.clear();
    if (options.rules.numbers == Numbers::kIgnored) return;
    const uint64_t all = numbers.Read(normal, out.numbers);
    if (all != 0) out.content_hash = Mixed(out.content_hash + all);
    if (all == 0 || !HasFew(out.numbers)) return;
    for (uint64_t& band : out.bands) band = Mixed(band + all);
  }

  /// Of the words' shingles. Numbers don't count, because additions have numbers too.
  void ReadBeginnings(ItemFeatures& out) const {
    out.beginning = 0;
    out.other_beginnings = {};
    if (!options.rules.beginnings || hashes.size() < kContainedMin + kShingleWords - 1) return;
    const size_t count = hashes.size() - kShingleWords + 1;
    size_t end = std::bit_floor(count) / 4;
    std::array<uint64_t, kBeginningRows> minima;
    minima.fill(UINT64_MAX);
    size_t at = 0;
    for (uint64_t* const hash : {&out.other_beginnings[0], &out.beginning, &out.other_beginnings[1]}) {
      for (; at < end; ++at) {
        const uint64_t shingle = ShingleHash(&hashes[at], kShingleWords);
        for (size_t row = 0; row < kBeginningRows; ++row)
          minima[row] = std::min(minima[row], shingle * kPlaceFactors[row]);
      }
      *hash = end;
      for (const uint64_t minimum : minima) *hash = Mixed(*hash + minimum);
      end *= 2;
    }
  }

  /// Whether the SimHash is of character n-grams. Single characters say little: their pairs stand for the
  /// words of a Chinese text.
  bool TokensAreGrams() const {
    const bool of_characters =
        Script() == ScriptClass::kDictionary && !UsesDictionary(options.rules.segmentation);
    return Length() == LengthClass::kShort || of_characters;
  }

  /// Calls `take`(token, hash, weight times kWeightOne) for each token of the SimHash.
  template <typename Take>
  void ForEachToken(std::string_view lang, Take take) const {
    if (TokensAreGrams()) return ForEachGram(take);
    ForEachWord(lang, take);
  }

  template <typename Take>
  void ForEachWord(std::string_view lang, Take take) const {
    const StopWords& stop_words = StopWords::Of(lang);
    for (size_t i = 0; i < words.size(); ++i) {
      if (stop_words.Contains(hashes[i])) continue;
      const auto weight = static_cast<uint32_t>(options.idf->Weight(hashes[i]) * kWeightOne);
      take(words[i], hashes[i], std::min(weight, SimHasher::kWeightMax));
    }
  }

  template <typename Take>
  void ForEachGram(Take take) const {
    const size_t characters_each =
        Script() == ScriptClass::kDictionary ? kGramOfDictionary : kGramOfAlphabetic;
    const std::string_view text = normal.text;
    size_t begin = 0, end = 0;
    for (size_t i = 0; i < characters_each && end < text.size(); ++i) end += CharacterBytes(text[end]);
    while (true) {
      const std::string_view gram = text.substr(begin, end - begin);
      take(gram, TokenHash(gram), static_cast<uint32_t>(kWeightOne));
      if (end == text.size()) return;
      begin += CharacterBytes(text[begin]);
      end += CharacterBytes(text[end]);
    }
  }

  void ReleaseLarge() {
    if (normal.text.capacity() <= kKeptBytesMax) return;
    normaliser.Release();
    normal = {};
    words = {};
    hashes = {};
    stretches = {};
    characters = {};
    numbers.Release();
  }
};

FeatureReader::FeatureReader(const FeatureOptions& options)
    : FeatureReader(options, UsesDictionary(options.rules.segmentation) ? NewIcuSegmenter()
                                                                        : NewCharacterSegmenter()) {}
FeatureReader::FeatureReader(const FeatureOptions& options, std::unique_ptr<Segmenter> segmenter)
    : impl_(std::make_unique<Impl>(options, std::move(segmenter))) {}
FeatureReader::~FeatureReader() = default;
FeatureReader::FeatureReader(FeatureReader&&) noexcept = default;

void FeatureReader::Read(const ItemText& item, ItemFeatures& out) {
  Impl& impl = *impl_;
  impl.FindWords(item);
  impl.HashWords();
  out.words = static_cast<uint32_t>(impl.words.size());
  out.script = impl.Script();
  out.cut = impl.normal.cut;
  out.content_hash = TokenHash(impl.normal.text);
  out.length = impl.LengthOf();
  if (impl.TokensAreGrams()) {  // all of one weight
    impl.ForEachGram([&](std::string_view, uint64_t hash, uint32_t) { impl.simhasher.AddOne(hash); });
  } else {
    impl.ForEachWord(item.lang, [&](std::string_view, uint64_t hash, uint32_t weight) {
      impl.simhasher.Add(hash, weight);
    });
  }
  if (impl.simhasher.weight() == 0) {
    for (const uint64_t hash : impl.hashes) impl.simhasher.AddOne(hash);  // the text has stop words only
  }
  out.simhash = impl.simhasher.Finish();
  impl.ForEachShingleOfText([&](uint64_t shingle) { impl.sketches.Add(shingle); });
  impl.sketches.Finish(out.sketch, out.bands);
  impl.ReadNumbers(out);
  impl.ReadBeginnings(out);
  impl.ReleaseLarge();
}

std::vector<WeighedToken> FeatureReader::Explain(const ItemText& item) {
  Impl& impl = *impl_;
  impl.FindWords(item);
  impl.HashWords();
  std::vector<WeighedToken> tokens;
  if (impl.words.empty()) return tokens;
  std::unordered_map<std::string_view, size_t> places;
  impl.ForEachToken(item.lang, [&](std::string_view token, uint64_t, uint32_t weight) {
    const auto [place, is_new] = places.try_emplace(token, tokens.size());
    if (is_new) tokens.push_back({std::string(token), 0});
    tokens[place->second].weight += weight / kWeightOne;
  });
  std::sort(tokens.begin(), tokens.end(), [](const WeighedToken& a, const WeighedToken& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  });
  return tokens;
}

std::vector<std::string> FeatureReader::NumbersOf(const ItemText& item) {
  impl_->FindWords(item);
  std::vector<std::string> numbers;
  impl_->numbers.Find(impl_->normal, [&](const std::string& number) { numbers.push_back(number); });
  return numbers;
}

std::span<const std::string_view> FeatureReader::Words(const ItemText& item) {
  impl_->FindWords(item);
  return impl_->words;
}

std::string_view FeatureReader::Normalised(const ItemText& item) {
  impl_->FindWords(item);
  return impl_->normal.text;
}

std::vector<uint64_t> FeatureReader::Shingles(const ItemText& item) {
  impl_->FindWords(item);
  impl_->HashWords();
  std::vector<uint64_t> shingles;
  impl_->ForEachShingleOfText([&](uint64_t shingle) { shingles.push_back(shingle); });
  std::sort(shingles.begin(), shingles.end());
  shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
  return shingles;
}

const TextRules& FeatureReader::rules() const { return impl_->options.rules; }

std::string FeatureReader::SegmenterVersion() const { return impl_->segmenter->Version(); }

}  // namespace seen
