#include <rocksdb/file_system.h>

#include <atomic>

#include "store_fixture.h"

namespace seen::test {
namespace {

/// Counts how often RocksDB tells the system to drop pages of a file that it wrote.
class WatchedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  using rocksdb::FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "WatchedFileSystem"; }
  int dropped() const { return dropped_; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    auto made = target()->NewWritableFile(name, options, &file, debug);
    if (made.ok()) *result = std::make_unique<File>(std::move(file), dropped_);
    return made;
  }

 private:
  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> target, std::atomic<int>& dropped)
        : FSWritableFileOwnerWrapper(std::move(target)), dropped_(dropped) {}
    rocksdb::IOStatus InvalidateCache(size_t offset, size_t length) override {
      ++dropped_;
      return FSWritableFileOwnerWrapper::InvalidateCache(offset, length);
    }

   private:
    std::atomic<int>& dropped_;
  };
  std::atomic<int> dropped_{0};
};

// The users of a checkpoint are published and asked for next.
TEST_F(StoreTest, KeepsACheckpointInThePageCache) {
  const auto files = std::make_shared<WatchedFileSystem>(rocksdb::FileSystem::Default());
  StoreOptions options = Options();
  options.file_system = files;
  const auto store = Open(std::move(options));
  const int at_the_opening = files->dropped();
  Checkpoint checkpoint = At(1);
  for (uint64_t i = 0; i < 100; ++i) checkpoint.deltas[User(i)] = Exposures(kDay, {1, 2, 3});
  ASSERT_TRUE(Commit(*store, checkpoint));
  EXPECT_EQ(files->dropped(), at_the_opening);
}

}  // namespace
}  // namespace seen::test
