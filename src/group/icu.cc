#include "group/icu.h"

#include <unicode/uchar.h>
#include <unicode/uversion.h>

#include "base/check.h"

namespace seen {

const icu::Normalizer2& FoldingNormalizer() {
  static const icu::Normalizer2* const normalizer = [] {
    UErrorCode error = U_ZERO_ERROR;
    const icu::Normalizer2* made = icu::Normalizer2::getNFKCCasefoldInstance(error);
    Check(U_SUCCESS(error) && made != nullptr, "ICU has no data for NFKC_CF: its library is broken");
    return made;
  }();
  return *normalizer;
}

std::string IcuVersion() {
  UVersionInfo library, unicode;
  u_getVersion(library);
  u_getUnicodeVersion(unicode);
  return "ICU " + std::to_string(library[0]) + "." + std::to_string(library[1]) + ", Unicode " +
         std::to_string(unicode[0]) + "." + std::to_string(unicode[1]);
}

}  // namespace seen
