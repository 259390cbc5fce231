#pragma once
// What this room needs of ICU, for its files that include ICU's headers.

#include <unicode/normalizer2.h>

namespace seen {

/// NFKC with case folding; removes ignorable characters (UAX 44, NFKC_CF). Any thread.
const icu::Normalizer2& FoldingNormalizer();

}  // namespace seen
