#pragma once
// Counts the documents of each word, in bounded memory. The counts of frequent words are exact, or nearly.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace seen {

/// Counts exactly until more than `words_kept` words are known. Then forgets the rarer half of the words, and
/// so on. The count of a word that was forgotten and occurs again is too low, by at most undercount()
/// documents. The same documents in the same order give the same counts. If no word was forgotten, the order
/// doesn't matter. One thread. Source: after Manku and Motwani, "Approximate frequency counts over data
/// streams", VLDB 2002.
class WordCounts {
 public:
  static constexpr size_t kWordBytesMax = 128;  // longer ones aren't words of a language

  explicit WordCounts(size_t words_kept) : words_kept_(words_kept) {}

  /// A document's words; each counts once.
  void Add(std::span<const std::string_view> words);

  struct Word {
    std::string word;
    uint64_t documents = 0;
    friend bool operator==(const Word&, const Word&) = default;
  };
  /// The `words_max` most frequent words that occur in at least `documents_min` documents. The most frequent
  /// come first, equally frequent ones in the order of their bytes.
  std::vector<Word> MostFrequent(size_t words_max, uint64_t documents_min) const;

  uint64_t documents() const { return documents_; }  // documents with at least one word
  size_t words() const { return counts_.size(); }    // known now
  uint64_t undercount() const { return undercount_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };
  struct Count {
    uint64_t documents = 0;
    uint64_t last_document = 0;  // counted from 1
  };
  void Forget();

  size_t words_kept_;
  std::unordered_map<std::string, Count, Hash, std::equal_to<>> counts_;
  uint64_t documents_ = 0;
  uint64_t undercount_ = 0;
};

/// The text form of similar/text/idf_table.h.
std::string IdfTableText(uint64_t documents, std::span<const WordCounts::Word> words,
                         std::span<const std::string> comments);

}  // namespace seen
