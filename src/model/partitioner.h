#pragma once
// How producers map a message key to a partition. Users are looked up by the same rule.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace seen {

enum class Partitioner {
  kMurmur2,  // Java clients' default: (murmur2(key) & 0x7fffffff) % partitions
  kCrc32,    // librdkafka's and kcat's default for keyed messages: crc32(key) % partitions
  kFnv1a,    // Sarama's and kafka-go's hash, librdkafka's fnv1a: |int32(fnv1a(key))| % partitions
};
inline constexpr std::array kPartitioners = {Partitioner::kMurmur2, Partitioner::kCrc32, Partitioner::kFnv1a};
/// By number.
inline constexpr std::array<std::string_view, kPartitioners.size()> kPartitionerNames = {"murmur2", "crc32",
                                                                                         "fnv1a"};

std::optional<Partitioner> ParsePartitioner(std::string_view name);
constexpr std::string_view PartitionerName(Partitioner partitioner) {
  return kPartitionerNames[static_cast<size_t>(partitioner)];
}

/// The partition is this hash modulo the number of partitions.
uint32_t PartitionHash(Partitioner partitioner, std::string_view key);

/// `partitions` > 0. Pure, any thread.
int32_t PartitionOf(Partitioner partitioner, std::string_view key, int32_t partitions);

}  // namespace seen
