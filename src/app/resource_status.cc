#include "app/resource_status.h"

#include <filesystem>
#include <system_error>

namespace seen {

std::vector<MemoryShare> MemoryShares(const MemoryBudget& budget, const StoreResources& resources,
                                      const std::vector<PartitionStatus>& partitions) {
  uint64_t tails = 0, users = 0;
  for (const PartitionStatus& partition : partitions) {
    tails += partition.tail_bytes;
    users += partition.store.delta_cache_bytes;
  }
  std::vector<MemoryShare> shares = {
      {"tails", budget.tails_bytes, tails},
      {"users_read", budget.delta_cache_bytes, users},
      {"block_cache", budget.block_cache_bytes, resources.BlockCacheBytes()},
      {"fetch_queues", budget.fetch_bytes, std::nullopt},
      {"publisher", budget.publish_bytes, std::nullopt},
      {"producer_queues", 2 * budget.producer_bytes, std::nullopt},
      {"file_writers", budget.write_bytes, std::nullopt},
      {"http_bodies", budget.bodies_bytes, std::nullopt},
      {"item_groups", budget.groups_bytes, std::nullopt},
      {"item_presence", budget.presence_bytes, std::nullopt},
      {"state_stream", budget.state_bytes, std::nullopt},
  };
  std::erase_if(shares, [](const MemoryShare& share) { return share.budget_bytes == 0; });
  return shares;
}

std::optional<DiskSpace> DiskSpaceOf(const std::string& folder) {
  std::error_code failed;
  const std::filesystem::space_info space = std::filesystem::space(folder, failed);
  if (failed) return std::nullopt;
  return DiskSpace{space.capacity, space.available};
}

}  // namespace seen
