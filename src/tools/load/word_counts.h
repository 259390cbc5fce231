#pragma once
// In how many documents each word comes, in bounded memory: the frequent ones exactly, or nearly.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace seen {

/// Counts exactly until it knows `words_kept` words. Then the rarer half of them is forgotten, and so on: a
/// word that was forgotten and comes again is counted too low, by undercount() documents at most. The same
/// documents in the same order give the same counts; without a loss the order doesn't matter. Source: after
/// Manku and Motwani, "Approximate frequency counts over data streams", VLDB 2002. One thread.
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
  /// The `words_max` most frequent of those in `documents_min` documents or more: the frequent first, the
  /// equally frequent by their bytes.
  std::vector<Word> MostFrequent(size_t words_max, uint64_t documents_min) const;

  uint64_t documents() const { return documents_; }  // with a word
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

/// The text form of group/idf_table.h.
std::string IdfTableText(uint64_t documents, std::span<const WordCounts::Word> words,
                         std::span<const std::string> comments);

}  // namespace seen
