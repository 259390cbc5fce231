#pragma once
// How producers map a message key to a partition. Users are looked up by the same rule.

#include <cstdint>
#include <optional>
#include <string_view>

namespace seen {

enum class Partitioner {
  kMurmur2,  // Java clients' default: (murmur2(key) & 0x7fffffff) % partitions
  kCrc32,    // librdkafka's and kcat's default for keyed messages: crc32(key) % partitions
};

std::optional<Partitioner> ParsePartitioner(std::string_view name);  // "murmur2", "crc32"
std::string_view PartitionerName(Partitioner partitioner);

/// The partition is this hash modulo the number of partitions.
uint32_t PartitionHash(Partitioner partitioner, std::string_view key);

/// `partitions` > 0. Pure, any thread.
int32_t PartitionOf(Partitioner partitioner, std::string_view key, int32_t partitions);

}  // namespace seen
