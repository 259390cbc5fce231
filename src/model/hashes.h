#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace seen {

/// An item's canonical key everywhere past decoding: the upper half of XXH64(item id as UTF-8, seed 0).
/// Two of 3,000 items share one in about one user of a thousand; see docs/ARCHITECTURE.md, "Fingerprints".
struct Fingerprint {
  uint32_t value = 0;
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

Fingerprint FingerprintOf(std::string_view item_id);

/// The key of a user's state: XXH3-128(user id), seed 0. Ordered as its 16 canonical (big-endian) bytes are.
struct UserKey {
  uint64_t high = 0;
  uint64_t low = 0;
  friend auto operator<=>(const UserKey&, const UserKey&) = default;
};

UserKey UserKeyOf(std::string_view user_id);

/// The canonical bytes, big-endian, as they stand in RocksDB's keys.
std::array<char, 16> ToBytes(const UserKey& key);
UserKey UserKeyFromBytes(const char* bytes16);

struct UserKeyHash {
  size_t operator()(const UserKey& key) const { return static_cast<size_t>(key.low); }
};

/// Distinguishes log records: XXH64 of the value, seeded with XXH64 of the key (seed 0).
uint64_t RecordHash(std::string_view key, std::string_view value);

// The fingerprints of a user's similar set. They have domains of their own, so that the removal of one item
// never takes back what another seen item recorded. schemas/snapshot.md, "What is similar".

/// For an item that is near a seen item: the upper half of XXH64(the fingerprint's four bytes, then 0x01).
Fingerprint NearFingerprintOf(Fingerprint item);
/// For a group that has a seen item: likewise of the group id's fingerprint, then 0x02.
Fingerprint GroupFingerprintOf(Fingerprint group);

}  // namespace seen
