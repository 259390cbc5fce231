#pragma once
// Which partitioner the producers of misrouted events use, judged from records at hand. Pure.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/partitioner.h"

namespace seen {

/// Records of blocks that have a misrouted event, and how many of them each partitioner fits: it gives the
/// partition that the record is in.
struct PartitionerFits {
  uint64_t records = 0;
  uint64_t keyed_by_user = 0;  // their key is the user's id
  uint64_t misrouted = 0;
  std::array<uint64_t, kPartitioners.size()> fits{};            // by partitioner
  std::array<uint64_t, kPartitioners.size()> fits_misrouted{};  // of the misrouted ones

  void Add(std::string_view user_id, std::string_view key, int32_t partition, int32_t partitions,
           Partitioner configured);
  PartitionerFits& operator+=(const PartitionerFits& other);
};

/// The cause and the remedy, for people. Several partitioners may fit, or none.
std::string GuessPartitioner(const PartitionerFits& fits, Partitioner configured);

}  // namespace seen
