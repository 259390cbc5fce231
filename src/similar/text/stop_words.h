#pragma once
// Words that say nothing about a text's subject. They have no weight in a SimHash. Shingles keep them,
// because "to be or not to be" consists of nothing else.

#include <cstdint>
#include <string_view>

namespace seen {

/// The stop words of `lang`, by token hash. `lang` is a BCP 47 tag, of which the first part counts: "en-GB"
/// is "en". A language without a list, and an empty tag, have the English, Chinese and Japanese words. Any
/// thread.
class StopWords {
 public:
  static const StopWords& Of(std::string_view lang);
  bool Contains(uint64_t token_hash) const;

 private:
  friend struct StopWordLists;
  static constexpr uint32_t kPlaces = 1024;  // a power of two; lists have at most half as many words
  uint64_t hashes_[kPlaces] = {};            // open addressing; 0: free
};

}  // namespace seen
