#pragma once
// Words that say nothing of what a text is about. They have no weight in a SimHash; shingles keep them, since
// "to be or not to be" is nothing else.

#include <cstdint>
#include <string_view>

namespace seen {

/// Whether the word of this token hash is one of `lang` (BCP 47, of which the first part counts: "en-GB" is
/// "en"). Of a language without a list, and of none: English, Chinese and Japanese ones. Any thread.
class StopWords {
 public:
  static const StopWords& Of(std::string_view lang);
  bool Contains(uint64_t token_hash) const;

 private:
  friend struct StopWordLists;
  static constexpr uint32_t kPlaces = 1024;  // a power of two; lists have at most half as many words
  uint64_t hashes_[kPlaces] = {};            // by open addressing; 0: free
};

}  // namespace seen
