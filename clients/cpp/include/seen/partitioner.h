#pragma once
// Which partition a user's records are in: of the input topic, of the snapshot topic, and of which daemon.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace seen::client {

/// As the daemon's `input.partitioner`.
enum class Partitioner {
  kMurmur2,  // as Kafka's Java clients map keys
  kCrc32,    // as librdkafka and kcat do by default
};

/// nullopt: a name that this reader doesn't know.
inline std::optional<Partitioner> PartitionerOf(std::string_view name) {
  if (name == "murmur2") return Partitioner::kMurmur2;
  if (name == "crc32") return Partitioner::kCrc32;
  return std::nullopt;
}

namespace internal {

/// MurmurHash2 of 32 bits (Appleby 2008) with the seed of Kafka's clients.
inline std::uint32_t Murmur2(std::string_view key) {
  constexpr std::uint32_t kMultiplier = 0x5bd1e995;
  const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(key[i])}; };
  std::uint32_t hash = 0x9747b28c ^ static_cast<std::uint32_t>(key.size());
  std::size_t at = 0;
  for (; at + 4 <= key.size(); at += 4) {
    std::uint32_t word = byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24;
    word *= kMultiplier;
    hash = hash * kMultiplier ^ (word ^ word >> 24) * kMultiplier;
  }
  if (at < key.size()) {
    for (std::size_t i = at; i < key.size(); ++i) hash ^= byte(i) << (8 * (i - at));
    hash *= kMultiplier;
  }
  hash = (hash ^ hash >> 13) * kMultiplier;
  return hash ^ hash >> 15;
}

/// CRC-32 (ISO-HDLC), as zlib's.
inline std::uint32_t Crc32(std::string_view key) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : key) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

}  // namespace internal

/// The user's partition among `partitions`, which must be 1 or more. Any thread.
inline std::int32_t PartitionOf(Partitioner partitioner, std::string_view user, std::int32_t partitions) {
  const std::uint32_t hash =
      partitioner == Partitioner::kMurmur2 ? internal::Murmur2(user) & 0x7fffffff : internal::Crc32(user);
  return static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(partitions));
}

}  // namespace seen::client
