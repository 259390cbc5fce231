#include "model/partitioner.h"

namespace seen {
namespace {

// Kafka's org.apache.kafka.common.utils.Utils.murmur2: MurmurHash2, 32 bits, seed 0x9747b28c.
uint32_t Murmur2(std::string_view data) {
  constexpr uint32_t kSeed = 0x9747b28c;
  constexpr uint32_t kMultiplier = 0x5bd1e995;
  constexpr int kRotation = 24;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(data[i])); };
  uint32_t hash = kSeed ^ static_cast<uint32_t>(data.size());
  size_t at = 0;
  for (; at + 4 <= data.size(); at += 4) {
    uint32_t word = byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24;
    word *= kMultiplier;
    word ^= word >> kRotation;
    word *= kMultiplier;
    hash = hash * kMultiplier ^ word;
  }
  switch (data.size() - at) {
    case 3:
      hash ^= byte(at + 2) << 16;
      [[fallthrough]];
    case 2:
      hash ^= byte(at + 1) << 8;
      [[fallthrough]];
    case 1:
      hash = (hash ^ byte(at)) * kMultiplier;
      break;
    default:
      break;
  }
  hash ^= hash >> 13;
  hash *= kMultiplier;
  return hash ^ hash >> 15;
}

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    table[i] = crc;
  }
  return table;
}

// CRC-32 (ISO-HDLC), as zlib's and librdkafka's rd_crc32.
uint32_t Crc32(std::string_view data) {
  static constexpr auto kTable = MakeCrcTable();
  uint32_t crc = 0xffffffffu;
  for (const char c : data) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ crc >> 8;
  return ~crc;
}

// FNV-1a, 32 bits. Sarama takes the remainder of a signed number, and drops its sign.
uint32_t Fnv1a(std::string_view data) {
  uint32_t hash = 0x811c9dc5u;
  for (const char c : data) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return hash > 0x7fffffffu ? 0u - hash : hash;
}

}  // namespace

std::optional<Partitioner> ParsePartitioner(std::string_view name) {
  for (const Partitioner partitioner : kPartitioners) {
    if (name == PartitionerName(partitioner)) return partitioner;
  }
  return std::nullopt;
}

uint32_t PartitionHash(Partitioner partitioner, std::string_view key) {
  switch (partitioner) {
    case Partitioner::kMurmur2:
      return Murmur2(key) & 0x7fffffffu;
    case Partitioner::kCrc32:
      return Crc32(key);
    case Partitioner::kFnv1a:
      break;
  }
  return Fnv1a(key);
}

int32_t PartitionOf(Partitioner partitioner, std::string_view key, int32_t partitions) {
  return static_cast<int32_t>(PartitionHash(partitioner, key) % static_cast<uint32_t>(partitions));
}

}  // namespace seen
