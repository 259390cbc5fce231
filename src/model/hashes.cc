#include "model/hashes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/byte_codec.h"

namespace seen {

Fingerprint FingerprintOf(std::string_view item_id) {
  return {static_cast<uint32_t>(XXH64(item_id.data(), item_id.size(), 0) >> 32)};
}

uint64_t RecordHash(std::string_view key, std::string_view value) {
  return XXH64(value.data(), value.size(), XXH64(key.data(), key.size(), 0));
}

UserKey UserKeyOf(std::string_view user_id) {
  const XXH128_hash_t hash = XXH3_128bits(user_id.data(), user_id.size());
  return {hash.high64, hash.low64};
}

std::array<char, 16> ToBytes(const UserKey& key) {
  std::array<char, 16> bytes;
  char* to = bytes.data();
  PutBigEndian(key.high, to);
  PutBigEndian(key.low, to);
  return bytes;
}

UserKey UserKeyFromBytes(const char* bytes16) {
  const auto high = GetBigEndian<uint64_t>(bytes16);
  return {high, GetBigEndian<uint64_t>(bytes16)};
}

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
