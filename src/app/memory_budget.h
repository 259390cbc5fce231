#pragma once
// Divides store.memory_mib into shares. The shares cover everything that grows with load. On top of the
// shares, the process needs about 60 MB for code, thread stacks, and the fixed parts of librdkafka and
// RocksDB. See docs/ARCHITECTURE.md, "Memory".

#include <algorithm>
#include <cstdint>

#include "flow/publish_table.h"

namespace seen {

struct MemoryBudget {
  uint64_t delta_cache_bytes;  // users read lately, over all partitions
  uint64_t block_cache_bytes;  // RocksDB's cache, with index and filter blocks, over all partitions
  uint64_t tails_bytes;        // active and frozen tails, over all partitions
  uint64_t fetch_bytes;        // consumer queues, over all partitions
  uint64_t publish_bytes;      // users followed by the publisher, over all partitions
  uint64_t producer_bytes;     // for snapshots and for dead letters under way, each
  uint64_t write_bytes;        // RocksDB's buffers while files are written and compacted
  uint64_t groups_bytes;       // what items are like: cache and fetch queue
  uint64_t bodies_bytes;       // HTTP bodies in flight, with the memory to read them
  uint64_t state_bytes;        // changes on their way to the state topic, over all partitions
  uint64_t presence_bytes;     // which keys the indexes of items have, over all indexes
  uint64_t total_bytes;

  // Enough for a removal of a thousand items and some look-ups of thousands of candidates at once.
  static constexpr uint64_t kBodiesBytesMin = 16 << 20;

  /// `groups`: the configuration has items. `state`: there is a state topic.
  explicit MemoryBudget(uint64_t total, bool groups = false, bool state = false)
      : delta_cache_bytes(total * ((groups ? 9U : 13U) - (state ? 3U : 0U)) / 100),
        block_cache_bytes(total * (groups ? 11 : 12) / 100),
        tails_bytes(total * 30 / 100),
        fetch_bytes(total * ((groups ? 10U : 15U) - (state ? 3U : 0U)) / 100),
        publish_bytes(total * (groups ? 8 : 10) / 100),
        producer_bytes(total * 5 / 100),
        write_bytes(total * 5 / 100),
        groups_bytes(groups ? total * 5 / 100 : 0),
        bodies_bytes(std::max<uint64_t>(total * 5 / 100, kBodiesBytesMin)),
        state_bytes(state ? total * 6 / 100 : 0),
        presence_bytes(groups ? total * 7 / 100 : 0),
        total_bytes(total) {}

  /// The limit of one tail; a partition has two. Below the minimum, checkpoints would be too small to be
  /// worth a file.
  uint64_t TailBytes(int32_t partitions) const {
    return std::max<uint64_t>(tails_bytes / 2 / static_cast<uint64_t>(std::max(1, partitions)), 512 * 1024);
  }
  /// Updates that no broker has, of one partition. They take a part of the snapshots' share.
  uint64_t UpdateBytes(int32_t partitions) const {
    return std::max<uint64_t>(producer_bytes / 2 / static_cast<uint64_t>(std::max(1, partitions)),
                              512 * 1024);
  }
  uint64_t DeltaCacheBytes(int32_t partitions) const {
    return delta_cache_bytes / static_cast<uint64_t>(std::max(1, partitions));
  }
  uint64_t StateQueueBytes() const { return std::max<uint64_t>(state_bytes / 4, 4 << 20); }
  uint64_t StateChangesBytes(int32_t partitions) const {
    return std::max<uint64_t>(state_bytes * 3 / 4 / static_cast<uint64_t>(std::max(1, partitions)), 1 << 20);
  }
  uint64_t GroupCacheBytes() const { return groups_bytes * 4 / 5; }
  uint64_t GroupFetchBytes() const { return groups_bytes / 5; }
  // Re-keying takes a part of the fetch queues, and a part of the dead letters' share.
  uint64_t FetchBytes(bool rekeying) const { return rekeying ? fetch_bytes / 2 : fetch_bytes; }
  uint64_t DeadLetterBytes(bool rekeying) const {
    constexpr uint64_t kLongestLetter = 1 << 20;
    return rekeying ? std::max(producer_bytes / 4, 2 * kLongestLetter) : producer_bytes;
  }
  // Items' readers and writers take parts of the shares for events.
  uint64_t ItemsFetchBytes() const { return fetch_bytes / 4; }
  uint64_t ItemsProducerBytes() const { return producer_bytes / 2; }
  uint64_t KeyedProducerBytes() const { return producer_bytes / 2; }
  /// For a fill. This memory comes on top of the budget, as that of restores does.
  uint64_t FillBytes() const {
    return std::clamp<uint64_t>(total_bytes / 8, uint64_t{16} << 20, uint64_t{128} << 20);
  }
  uint64_t PublishEntries(int32_t partitions) const {
    return std::max<uint64_t>(
        publish_bytes / PublishTable::kBytesAnEntry / static_cast<uint64_t>(std::max(1, partitions)), 2000);
  }
};

}  // namespace seen
