#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store_fixture.h"

namespace seen::test {
namespace {

namespace fs = std::filesystem;

TEST(StoreDirectory, IsCreatedWithItsParents) {
  const TemporaryFolder folder;
  const auto directory = StoreDirectory::Open(folder.path() + "/a/b/c");
  ASSERT_TRUE(directory) << directory.error().message;
  EXPECT_TRUE(fs::is_directory(folder.path() + "/a/b/c"));
}

TEST(StoreDirectory, RefusesASecondProcessAndNamesTheFirst) {
  const TemporaryFolder folder;
  const auto directory = StoreDirectory::Open(folder.path());
  ASSERT_TRUE(directory);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto second = StoreDirectory::Open(folder.path());
    const std::string told =
        second ? "opened" : std::string(CodeName(second.error().code)) + ": " + second.error().message;
    const bool written = ::write(pipe[1], told.data(), told.size()) == static_cast<ssize_t>(told.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(pipe[1]);
  std::string told(1024, '\0');
  const ssize_t length = ::read(pipe[0], told.data(), told.size());
  ::close(pipe[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_GT(length, 0);
  told.resize(static_cast<size_t>(length));
  EXPECT_EQ(told.find("refused: "), 0u) << told;
  EXPECT_NE(told.find("process " + std::to_string(::getpid()) + ":"), std::string::npos) << told;
}

TEST(StoreDirectory, OpensAgainWhenTheFirstIsGone) {
  const TemporaryFolder folder;
  { ASSERT_TRUE(StoreDirectory::Open(folder.path())); }
  EXPECT_TRUE(StoreDirectory::Open(folder.path()));
}

TEST(StoreDirectory, SaysWhyItCannotBeMade) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  const auto directory = StoreDirectory::Open(folder.path() + "/file/below");
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, Code::kRefused) << "no retry mends it";
  EXPECT_NE(directory.error().message.find(folder.path() + "/file"), std::string::npos)
      << directory.error().message;
}

TEST_F(StoreTest, ListsAndRemovesPartitions) {
  const auto directory = *StoreDirectory::Open(folder_.path());
  for (const int32_t partition : {12, 3, 0}) {
    StoreOptions options = Options();
    options.identity.partition = partition;
    ASSERT_TRUE(Commit(*Open(options), At(1)));
  }
  fs::create_directory(folder_.path() + "/partition-x");
  fs::create_directory(folder_.path() + "/partition-07");
  EXPECT_EQ(*directory->PartitionsWithState(), (std::vector<int32_t>{0, 3, 12}));
  ASSERT_TRUE(directory->RemovePartition(3));
  EXPECT_EQ(*directory->PartitionsWithState(), (std::vector<int32_t>{0, 12}));
  EXPECT_TRUE(directory->RemovePartition(3)) << "nothing to remove is no error";
  EXPECT_EQ(*Open()->ReadPosition(), std::nullopt);
}

TEST(StoreDirectory, ClearsWhatACrashLeftHalfDone) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() + "/incoming");
  std::ofstream(folder.path() + "/incoming/partition-3.sst") << "half a file";
  fs::create_directories(folder.path() + "/removed-3");
  std::ofstream(folder.path() + "/removed-3/CURRENT") << "x";
  ASSERT_TRUE(StoreDirectory::Open(folder.path()));
  EXPECT_FALSE(fs::exists(folder.path() + "/incoming/partition-3.sst"));
  EXPECT_FALSE(fs::exists(folder.path() + "/removed-3"));
}

}  // namespace
}  // namespace seen::test
