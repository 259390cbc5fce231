#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace seen {

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

}  // namespace seen
