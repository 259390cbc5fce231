#include "similar/word_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace seen {
namespace {

// Whether a line of the table can hold `word`.
bool IsWritable(std::string_view word) {
  return !word.empty() && word.size() <= WordCounts::kWordBytesMax && word.front() != '#' &&
         std::none_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) <= ' '; });
}

}  // namespace

void WordCounts::Add(std::span<const std::string_view> words) {
  if (words.empty()) return;
  ++documents_;
  for (const std::string_view word : words) {
    if (!IsWritable(word)) continue;
    auto at = counts_.find(word);
    if (at == counts_.end()) at = counts_.emplace(std::string(word), Count{}).first;
    if (at->second.last_document == documents_) continue;
    at->second.last_document = documents_;
    ++at->second.documents;
  }
  if (counts_.size() > words_kept_) Forget();
}

void WordCounts::Forget() {
  std::vector<uint64_t> documents;
  documents.reserve(counts_.size());
  for (const auto& [word, count] : counts_) documents.push_back(count.documents);
  const auto middle = documents.begin() + static_cast<std::ptrdiff_t>(documents.size() / 2);
  std::nth_element(documents.begin(), middle, documents.end());
  const uint64_t rare = *middle;
  std::erase_if(counts_, [rare](const auto& entry) { return entry.second.documents <= rare; });
  undercount_ += rare;
}

std::vector<WordCounts::Word> WordCounts::MostFrequent(size_t words_max, uint64_t documents_min) const {
  std::vector<Word> words;
  for (const auto& [word, count] : counts_) {
    if (count.documents >= documents_min) words.push_back({word, count.documents});
  }
  const auto before = [](const Word& a, const Word& b) {
    return a.documents != b.documents ? a.documents > b.documents : a.word < b.word;
  };
  std::sort(words.begin(), words.end(), before);
  if (words.size() > words_max) words.resize(words_max);
  return words;
}

std::string IdfTableText(uint64_t documents, std::span<const WordCounts::Word> words,
                         std::span<const std::string> comments) {
  std::string text = fmt::format("# documents {}\n", documents);
  for (const std::string& comment : comments) text += fmt::format("# {}\n", comment);
  for (const auto& [word, count] : words) fmt::format_to(std::back_inserter(text), "{}\t{}\n", word, count);
  return text;
}

}  // namespace seen
