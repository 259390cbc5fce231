#pragma once
// A store on a disk that loses power, fills up or fails.

#include <chrono>
#include <thread>

#include "store_fixture.h"
#include "support/lossy_file_system.h"

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

/// `Base`: StoreTest or JournalTest.
template <typename Base>
class LossyTest : public Base {
 protected:
  StoreOptions OnLossyDisk() {
    StoreOptions options = this->Options();
    options.file_system = disk_.Mount();
    return options;
  }
  /// A round takes a new partition. In one partition, so many checkpoints would cause compactions.
  StoreOptions Round(uint64_t operations) {
    StoreOptions options = OnLossyDisk();
    options.identity.partition = static_cast<int32_t>(operations);
    return options;
  }
  /// Cuts the second of two checkpoints at each operation on the disk. All of it is left then, or nothing of
  /// it. `torn`: whether files keep a random part of their unsynced bytes.
  template <typename Change, typename Found>
  void CutEveryOperation(const Change& first, const Change& second, const Found& before, const Found& after,
                         Found (*read)(const PartitionStore&), bool torn, uint64_t operations_max) {
    uint64_t olds = 0;
    uint64_t news = 0;
    bool done = false;
    for (uint64_t operations = 0; !done; ++operations) {
      ASSERT_LT(operations, operations_max) << "a checkpoint is not that many operations";
      SCOPED_TRACE("after " + std::to_string(operations));
      StoreOptions fresh = Round(operations);
      auto store = RocksPartitionStore::Open(fresh);
      ASSERT_TRUE(store) << store.error().message;
      ASSERT_TRUE(Commit(**store, first));
      disk_.CrashAfter(operations);
      const Status committed = Commit(**store, second);
      done = committed.has_value();
      store->reset();
      disk_.Crash(torn ? operations + 1 : 0);

      fresh.file_system = disk_.Mount();
      auto reopened = RocksPartitionStore::Open(fresh);
      ASSERT_TRUE(reopened) << reopened.error().message;
      const Found found = read(**reopened);
      if (found == before) {
        ++olds;
        ASSERT_FALSE(committed) << "a committed checkpoint is gone";
      } else {
        ++news;
        ASSERT_EQ(found, after);
      }
      ASSERT_TRUE(Commit(**reopened, second));
      ASSERT_EQ(read(**reopened), after);
      reopened->reset();
    }
    EXPECT_GT(olds, 3u);
    EXPECT_GT(news, 0u);
  }

  LossyDisk disk_{this->folder_.path()};
};

}  // namespace seen::test
