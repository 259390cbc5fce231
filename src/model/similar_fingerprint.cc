#include "model/similar_fingerprint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>

namespace seen {
namespace {
Fingerprint InDomain(Fingerprint fingerprint, unsigned char domain) {
  const uint32_t value = fingerprint.value;
  const std::array<unsigned char, 5> bytes = {
      static_cast<unsigned char>(value), static_cast<unsigned char>(value >> 8),
      static_cast<unsigned char>(value >> 16), static_cast<unsigned char>(value >> 24), domain};
  return {static_cast<uint32_t>(XXH64(bytes.data(), bytes.size(), 0) >> 32)};
}
}  // namespace

Fingerprint NearFingerprintOf(Fingerprint item) { return InDomain(item, 1); }
Fingerprint GroupFingerprintOf(Fingerprint group) { return InDomain(group, 2); }

}  // namespace seen
