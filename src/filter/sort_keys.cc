#include "filter/sort_keys.h"

#include <algorithm>

namespace seen {

std::span<const Fingerprint> Sorted(std::span<const Fingerprint> fingerprints,
                                    std::vector<Fingerprint>& copy) {
  if (std::is_sorted(fingerprints.begin(), fingerprints.end())) return fingerprints;
  copy.assign(fingerprints.begin(), fingerprints.end());
  SortByKey(copy, 32, [](Fingerprint fingerprint) { return fingerprint.value; });
  return copy;
}

}  // namespace seen
