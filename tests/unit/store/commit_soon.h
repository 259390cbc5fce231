#pragma once
// A checkpoint after the disk has failed.

#include <chrono>
#include <thread>

#include "store_fixture.h"

namespace seen::test {

/// Retries for about 10 s, because RocksDB may need a moment to notice that it can write again. Takes both
/// kinds of checkpoint.
Status CommitSoon(PartitionStore& store, const auto& checkpoint) {
  Status committed = Commit(store, checkpoint);
  for (int i = 0; i < 100 && !committed; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    committed = Commit(store, checkpoint);
  }
  return committed;
}

}  // namespace seen::test
