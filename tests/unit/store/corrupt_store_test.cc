// Stores with damaged files. The error names the damage, the partition and the remedy. No answer is wrong.
#include <fstream>
#include <functional>

#include "store_fixture.h"

namespace seen::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kUsers = 400;

std::vector<fs::path> FilesLike(const fs::path& folder, std::string_view part) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().find(part) != std::string::npos) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}
fs::path FileLike(const fs::path& folder, std::string_view part) { return FilesLike(folder, part).at(0); }
// The file with the users.
fs::path BigFile(const fs::path& folder) {
  const auto files = FilesLike(folder, ".sst");
  return *std::max_element(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return fs::file_size(a) < fs::file_size(b);
  });
}

void Overwrite(const fs::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}
void Cut(const fs::path& file, double share) {
  fs::resize_file(file, static_cast<uintmax_t>(static_cast<double>(fs::file_size(file)) * share));
}
void FlipByte(const fs::path& file, uint64_t at) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekg(static_cast<std::streamoff>(at));
  const int byte = stream.get();
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(static_cast<char>(byte ^ 0x10));
}
void FlipByteFromEnd(const fs::path& file, uint64_t back) { FlipByte(file, fs::file_size(file) - back); }

class CorruptStoreTest : public StoreTest {
 protected:
  // Each store has its own block cache. A shared cache would still hold blocks that are damaged on disk.
  StoreOptions Options() {
    StoreOptions options = StoreTest::Options();
    options.resources = StoreResources{16 << 20, 1};
    return options;
  }
  std::unique_ptr<RocksPartitionStore> Open() { return StoreTest::Open(Options()); }
  // Writes one big file of state, and a small file of the last checkpoint.
  void Fill() {
    Checkpoint big = At(10);
    for (uint64_t user = 0; user < kUsers; ++user) {
      std::vector<uint32_t> items;
      for (uint32_t i = 0; i < 100; ++i) items.push_back(i * 40'000'000u + static_cast<uint32_t>(user));
      big.deltas[User(user)] = Exposures(kDay, items);
      if (user % 2 == 0) big.marks[User(user)] = true;
    }
    const auto store = Open();
    ASSERT_TRUE(Commit(*store, big));
    ASSERT_TRUE(store->CompactAll());
    ASSERT_TRUE(Commit(*store, At(20)));
  }
  fs::path Folder() const { return StoreDirectory::PartitionPath(folder_.path(), 3); }

  // Opens the store and reads all of it. Returns the contents, or the first error.
  Result<Contents> ReadAll() {
    auto store = RocksPartitionStore::Open(Options());
    if (!store) return Fail(store.error());
    Contents contents;
    const auto position = (*store)->ReadPosition();
    if (!position) return Fail(position.error());
    contents.position = *position;
    std::vector<UserRef> users;
    for (uint64_t user = 0; user < kUsers; ++user) users.push_back(User(user));
    std::vector<std::string> deltas(users.size());
    if (Status read = (*store)->ReadDeltas(users, deltas); !read) return Fail(read.error());
    for (size_t i = 0; i < users.size(); ++i) {
      if (deltas[i].empty()) continue;
      auto delta = DecodeDelta(deltas[i]);
      if (!delta) return Fail(delta.error());
      contents.deltas[users[i]] = *delta;
    }
    const auto marks = (*store)->ScanMarks(std::nullopt, 1'000'000);
    if (!marks) return Fail(marks.error());
    for (const Mark& mark : *marks) contents.marks.push_back(mark.user);
    return contents;
  }

  static void ExpectCorrupt(const Error& error) {
    EXPECT_EQ(error.code, Code::kCorrupt) << error.message;
    EXPECT_NE(error.message.find("partition 3: "), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("Remedy: check the disk, then start with --rebuild"), std::string::npos)
        << error.message;
  }

  // Does what --rebuild does.
  void ExpectAnEmptyStoreTakesItsPlace() {
    const auto directory = *StoreDirectory::Open(folder_.path());
    const Status removed = directory->RemovePartition(3);
    ASSERT_TRUE(removed) << removed.error().message;
    const auto store = Open();
    ASSERT_TRUE(store);
    EXPECT_EQ(*store->ReadPosition(), std::nullopt);
    EXPECT_TRUE(Commit(*store, At(1)));
  }
};

struct Damage {
  const char* name;
  std::function<void(const fs::path&)> make;
};

class DamagedStore : public CorruptStoreTest, public ::testing::WithParamInterface<Damage> {};

TEST_P(DamagedStore, IsReportedAsCorruptAndMayBeDropped) {
  Fill();
  GetParam().make(Folder());
  const auto contents = ReadAll();
  ASSERT_FALSE(contents) << contents->deltas.size() << " users were read";
  ExpectCorrupt(contents.error());
  ExpectAnEmptyStoreTakesItsPlace();
}

INSTANTIATE_TEST_SUITE_P(
    Each, DamagedStore,
    ::testing::Values(
        Damage{"CurrentIsMissing", [](const fs::path& in) { fs::remove(in / "CURRENT"); }},
        Damage{"CurrentIsEmpty", [](const fs::path& in) { Overwrite(in / "CURRENT", ""); }},
        Damage{"CurrentIsGarbage", [](const fs::path& in) { Overwrite(in / "CURRENT", "x\n"); }},
        Damage{"CurrentNamesAFileThatIsMissing",
               [](const fs::path& in) { Overwrite(in / "CURRENT", "MANIFEST-999999\n"); }},
        Damage{"ManifestIsMissing", [](const fs::path& in) { fs::remove(FileLike(in, "MANIFEST")); }},
        Damage{"ManifestIsEmpty", [](const fs::path& in) { Cut(FileLike(in, "MANIFEST"), 0); }},
        Damage{"ManifestIsCutToItsFirstBytes",
               [](const fs::path& in) { fs::resize_file(FileLike(in, "MANIFEST"), 20); }},
        Damage{"ManifestHasAFlippedByte",
               [](const fs::path& in) { FlipByte(FileLike(in, "MANIFEST"), 40); }},
        Damage{"AFileOfStateIsMissing", [](const fs::path& in) { fs::remove(BigFile(in)); }},
        Damage{"AFileOfStateIsCut", [](const fs::path& in) { Cut(BigFile(in), 0.5); }},
        Damage{"AFileOfStateIsEmpty", [](const fs::path& in) { Cut(BigFile(in), 0); }},
        Damage{"AByteOfDataIsFlipped", [](const fs::path& in) { FlipByte(BigFile(in), 1000); }},
        Damage{"AByteOfTheFooterIsFlipped",
               [](const fs::path& in) { FlipByteFromEnd(BigFile(in), 3); }},
        Damage{"TheIndexIsGarbage",
               [](const fs::path& in) {
                 for (uint64_t back = 60; back < 3000; back += 8) FlipByteFromEnd(BigFile(in), back);
               }}),
    [](const auto& test) { return test.param.name; });

TEST_F(CorruptStoreTest, AFlippedByteAnywhereIsReportedOrHarmless) {
  Fill();
  const auto whole = ReadAll();
  ASSERT_TRUE(whole) << whole.error().message;
  int reported = 0;
  const fs::path copy = folder_.path() + "/copy";
  fs::copy(Folder(), copy, fs::copy_options::recursive);
  for (const fs::path& file : FilesLike(copy, ".sst")) {
    const uint64_t size = fs::file_size(file);
    for (uint64_t at = 0; at < size; at += size / 37 + 1) {
      fs::remove_all(Folder());
      fs::copy(copy, Folder(), fs::copy_options::recursive);
      FlipByte(Folder() / file.filename(), at);
      const auto contents = ReadAll();
      if (contents) {
        EXPECT_EQ(*contents, *whole) << file << " at " << at;
      } else {
        ++reported;
        ExpectCorrupt(contents.error());
      }
    }
  }
  EXPECT_GT(reported, 20);
}

// RocksDB can't tell a cut from a crash that leaves half a record. Then the store holds an older state with
// its own position, and the daemon reads the log again from that position.
TEST_F(CorruptStoreTest, ACutManifestIsReportedOrLeavesAnOlderStateWithItsPosition) {
  Fill();
  const auto whole = ReadAll();
  ASSERT_TRUE(whole) << whole.error().message;
  Contents older = *whole;
  older.position = At(10).position;
  const fs::path copy = folder_.path() + "/copy";
  fs::copy(Folder(), copy, fs::copy_options::recursive);
  const uint64_t size = fs::file_size(FileLike(copy, "MANIFEST"));
  int reported = 0;
  for (uint64_t left = 0; left < size; left += 13) {
    fs::remove_all(Folder());
    fs::copy(copy, Folder(), fs::copy_options::recursive);
    fs::resize_file(FileLike(Folder(), "MANIFEST"), left);
    const auto contents = ReadAll();
    if (!contents) {
      ++reported;
      ExpectCorrupt(contents.error());
    } else if (contents->position) {
      EXPECT_TRUE(*contents == *whole || *contents == older) << left << " bytes left";
    } else {
      EXPECT_EQ(*contents, Contents{}) << left << " bytes left: no position, so it counts as no state";
    }
  }
  EXPECT_GT(reported, 0);
}

TEST_F(CorruptStoreTest, ACompactionThatFindsDamageStopsCheckpoints) {
  Fill();
  FlipByte(BigFile(Folder()), 50'000);
  const auto store = Open();
  const Status compacted = store->CompactAll();
  ASSERT_FALSE(compacted);
  ExpectCorrupt(compacted.error());
  const Status committed = Commit(*store, At(30));
  ASSERT_FALSE(committed);
  ExpectCorrupt(committed.error());
  EXPECT_EQ((*store->ReadPosition())->next_offset, 20) << "what isn't damaged is read on";
}

TEST_F(CorruptStoreTest, DamagedPagesOfUsersAreReported) {
  Fill();
  FlipByte(BigFile(Folder()), 50'000);
  const auto store = Open();
  const auto scanned = store->ScanUsers(std::nullopt, kUsers, [](const UserRef&, std::string_view) {});
  ASSERT_FALSE(scanned);
  ExpectCorrupt(scanned.error());
}

TEST_F(CorruptStoreTest, OthersOpenBesideIt) {
  Fill();
  fs::remove(FileLike(Folder(), "MANIFEST"));
  ASSERT_FALSE(RocksPartitionStore::Open(Options()));
  StoreOptions other = Options();
  other.identity.partition = 4;
  EXPECT_TRUE(Commit(*StoreTest::Open(other), At(1)));
}

TEST_F(CorruptStoreTest, AFolderWithNothingInItIsANewStore) {
  Fill();
  fs::remove_all(Folder());
  fs::create_directory(Folder());
  const auto directory = *StoreDirectory::Open(folder_.path());
  EXPECT_EQ(*directory->PartitionsWithState(), std::vector<int32_t>{});
  const auto store = Open();
  EXPECT_EQ(*store->ReadPosition(), std::nullopt);
  EXPECT_EQ(*directory->PartitionsWithState(), std::vector<int32_t>{3});
}

}  // namespace
}  // namespace seen::test
