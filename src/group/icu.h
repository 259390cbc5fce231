#pragma once
// What this room needs of ICU, for its files that include ICU's headers.

#include <unicode/normalizer2.h>

#include <string>

namespace seen {

/// NFKC with case folding; removes ignorable characters (UAX 44, NFKC_CF). Any thread.
const icu::Normalizer2& FoldingNormalizer();

/// Such as "ICU 72.1, Unicode 15.0". Another version may find other words in scripts without spaces.
std::string IcuVersion();

}  // namespace seen
