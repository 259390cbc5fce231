#pragma once
// What is asked of ICU, for the files of this room that include its headers.

#include <unicode/normalizer2.h>

#include <string>

namespace seen {

/// NFKC with case folding and without what is ignorable (UAX 44, NFKC_CF). Any thread.
const icu::Normalizer2& FoldingNormalizer();

/// Such as "ICU 72.1, Unicode 15.0": another version may cut words of scripts without spaces otherwise.
std::string IcuVersion();

}  // namespace seen
