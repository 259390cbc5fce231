#include "tools/state/backup_directory.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "unit/tools/scratch_folder.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

const BackupOwner kOwner{"exposures", "murmur2", 8, "host-1"};

class BackupDirectoryTest : public testing::Test {
 protected:
  BackupDirectory Open() {
    auto directory = BackupDirectory::OpenToWrite(path_, kOwner);
    EXPECT_TRUE(directory) << directory.error().message;
    return std::move(*directory);
  }
  BackupFile Take(BackupDirectory& directory, const std::string& name, const std::string& bytes,
                  bool may_link = true) {
    auto file = directory.Take(folder_.Write(name, bytes), name, may_link, added_);
    EXPECT_TRUE(file) << file.error().message;
    return *file;
  }
  static BackupManifest ManifestOf(std::vector<BackupFile> files) {
    BackupManifest manifest;
    manifest.instance = "host-1";
    manifest.report.topic = "exposures";
    manifest.partitions = {{3, std::move(files)}};
    return manifest;
  }
  size_t Files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(path_ + "/files"), fs::directory_iterator()));
  }

  ScratchFolder folder_;
  const std::string path_ = folder_.Path("backups-here");
  BackupDirectory::Added added_;
};

TEST_F(BackupDirectoryTest, TakesEachFileOnce) {
  BackupDirectory directory = Open();
  const BackupFile first = Take(directory, "000012.sst", std::string(200'000, 'a'));
  EXPECT_EQ(added_.files, 1U);
  const BackupFile copied = Take(directory, "CURRENT", "MANIFEST-000005\n");
  EXPECT_EQ(added_.files, 2U);
  EXPECT_EQ(Take(directory, "CURRENT", "MANIFEST-000005\n"), copied);
  EXPECT_EQ(Take(directory, "000012.sst", std::string(200'000, 'a')), first);
  EXPECT_EQ(added_.files, 2U);
  EXPECT_EQ(added_.bytes, 200'016U);
  EXPECT_EQ(ScratchFolder::Read(directory.PathOf(copied)), "MANIFEST-000005\n");
  EXPECT_TRUE(fs::is_empty(path_ + "/incoming"));
}

TEST_F(BackupDirectoryTest, LinksTablesAndNothingElse) {
  BackupDirectory directory = Open();
  EXPECT_EQ(fs::hard_link_count(directory.PathOf(Take(directory, "000012.sst", "table"))), 2U);
  EXPECT_EQ(fs::hard_link_count(directory.PathOf(Take(directory, "MANIFEST-000005", "it is written to"))),
            1U);
  EXPECT_EQ(fs::hard_link_count(directory.PathOf(Take(directory, "000013.sst", "copied", false))), 1U);
}

TEST_F(BackupDirectoryTest, KnowsATableByItsEnd) {
  {
    BackupDirectory directory = Open();
    BackupManifest manifest = ManifestOf({Take(directory, "000012.sst", std::string(100'000, 'a') + "end")});
    ASSERT_TRUE(directory.Commit(manifest));
  }
  BackupDirectory directory = Open();
  added_ = {};
  // The backup knows a table by its size and its last 64 KiB.
  const BackupFile known =
      Take(directory, "000099.sst", std::string(50'000, 'b') + std::string(50'000, 'a') + "end");
  EXPECT_EQ(added_.files, 1U) << "its last 64 KiB are others";
  added_ = {};
  Take(directory, "000012.sst", "b" + std::string(99'999, 'a') + "end");
  EXPECT_EQ(added_.files, 0U) << "size and end are the same, so it wasn't read";
  fs::remove(directory.PathOf(known));
  Take(directory, "000099.sst", std::string(50'000, 'b') + std::string(50'000, 'a') + "end");
  EXPECT_EQ(added_.files, 1U) << "one that was removed comes again";
}

TEST_F(BackupDirectoryTest, NumbersBackupsAndKeepsTheNewest) {
  BackupDirectory directory = Open();
  const BackupFile shared = Take(directory, "000001.sst", "shared");
  for (uint32_t number = 1; number <= 4; ++number) {
    BackupManifest manifest = ManifestOf({shared, Take(directory, "CURRENT", std::to_string(number))});
    ASSERT_TRUE(directory.Commit(manifest));
    EXPECT_EQ(manifest.number, number);
  }
  EXPECT_EQ(*directory.Numbers(), (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(*directory.Keep(2), 2U);
  EXPECT_EQ(Files(), 5U);
  ASSERT_TRUE(directory.RemoveUnnamed());
  EXPECT_EQ(*directory.Numbers(), (std::vector<uint32_t>{3, 4}));
  EXPECT_EQ(Files(), 3U);
  EXPECT_EQ(directory.ReadOrNewest({})->number, 4U);
  EXPECT_EQ(directory.ReadOrNewest(3)->partitions[0].files.size(), 2U);
  EXPECT_EQ(directory.ReadOrNewest(1).error().code, Code::kNotFound);
  const auto third = directory.Read(3);
  for (const BackupFile& file : third->partitions[0].files) EXPECT_TRUE(directory.Verify(file));
}

TEST_F(BackupDirectoryTest, RemovesNothingWhereAManifestCantBeRead) {
  BackupDirectory directory = Open();
  BackupManifest manifest = ManifestOf({Take(directory, "000001.sst", "named")});
  ASSERT_TRUE(directory.Commit(manifest));
  Take(directory, "000002.sst", "not named");
  folder_.Write("backups-here/backups/7.json", "{");
  EXPECT_FALSE(directory.RemoveUnnamed());
  EXPECT_EQ(Files(), 2U);
}

TEST_F(BackupDirectoryTest, IsOneProcesssAndOneDaemons) {
  const auto message = [&](const BackupOwner& owner) {
    const auto opened = BackupDirectory::OpenToWrite(path_, owner);
    EXPECT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kRefused);
    return opened.error().message;
  };
  {
    const BackupDirectory directory = Open();
    EXPECT_NE(message(kOwner).find("another process"), std::string::npos);
  }
  BackupOwner other = kOwner;
  other.instance = "host-2";
  EXPECT_NE(message(other).find("instance host-1"), std::string::npos);
  other = kOwner;
  other.partitions_total = 9;
  EXPECT_NE(message(other).find("with 8 partitions"), std::string::npos);
  folder_.Write("backups-here/seen-backups.json", R"({"format":2})");
  EXPECT_NE(message(kOwner).find("format 2"), std::string::npos);
}

TEST_F(BackupDirectoryTest, LeavesDirectoriesOfOthersAlone) {
  fs::create_directory(path_);
  folder_.Write("backups-here/thesis.txt", "mine");
  const auto opened = BackupDirectory::OpenToWrite(path_, kOwner);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("thesis.txt"), std::string::npos);
  EXPECT_FALSE(fs::exists(path_ + "/LOCK"));
  EXPECT_EQ(BackupDirectory::OpenToRead(path_).error().code, Code::kNotFound);
}

TEST_F(BackupDirectoryTest, NoticesAnotherByte) {
  BackupDirectory directory = Open();
  const BackupFile file = Take(directory, "000001.sst", "as it was", false);
  ASSERT_TRUE(directory.Verify(file));
  folder_.Write(fs::relative(directory.PathOf(file), folder_.Path("")).string(), "as it wasn't");
  EXPECT_EQ(directory.Verify(file).error().code, Code::kCorrupt);
}

TEST(BackupManifest, IsReadAsItIsWritten) {
  BackupManifest manifest;
  manifest.number = 3;
  manifest.made_at = {1'763'700'000'000};
  manifest.program = "0.1.0";
  manifest.instance = "host-1";
  manifest.partitioner = "murmur2";
  manifest.report = {"instance host-1", "exposures", 8, {1'763'700'000'000}, {}};
  FilterDigest filter{"default", 30, {}};
  filter.set.digest = {1, 2};
  filter.set.users = 7;
  manifest.report.partitions = {{3, 17, {5}, {1'763'700'000'000}, {filter}}};
  manifest.partitions = {{3, {{"000001.sst", 5, {3, 4}, {5, 6}}}}};
  const std::string text = EncodeManifest(manifest);
  const auto read = DecodeManifest(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(EncodeManifest(*read), text);
  EXPECT_EQ(read->partitions[0].files, manifest.partitions[0].files);
  EXPECT_EQ(read->report.partitions[0].filters, manifest.report.partitions[0].filters);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto decoded = DecodeManifest(changed);
    return decoded ? std::string("read") : decoded.error().message;
  };
  EXPECT_NE(with("\"bytes\": 5", "\"bytes\": 6").find("checksum"), std::string::npos);
  EXPECT_NE(with("\"format\": 1", "\"format\": 2").find("format 2"), std::string::npos);
  EXPECT_FALSE(DecodeManifest(text.substr(0, text.size() / 2)));
  manifest.partitions[0].files[0].name = "../../etc/passwd";
  EXPECT_FALSE(DecodeManifest(EncodeManifest(manifest))) << "it would become part of a path";
}

TEST(StateReport, NamesWhatDiffers) {
  FilterDigest filter{"default", 30, {}};
  filter.set.digest = {1, 2};
  StateReport expected{"a", "exposures", 2, {5}, {{0, 10, {}, {5}, {filter}}, {1, 10, {}, {5}, {filter}}}};
  StateReport found = expected;
  found.partitions[0].next_offset = 99;
  found.partitions[0].filters[0].set.similar = {1, 1};
  EXPECT_TRUE(CompareReports(expected, found).empty()) << "positions and what is similar aren't compared";
  found.partitions[1].filters[0].set.digest = {1, 3};
  ASSERT_EQ(CompareReports(expected, found).size(), 1U);
  EXPECT_NE(CompareReports(expected, found)[0].find("partition 1, filter default"), std::string::npos);
  found.partitions.pop_back();
  EXPECT_NE(CompareReports(expected, found).at(0).find("partition 1"), std::string::npos);
  EXPECT_NE(CompareReports(found, expected).at(0).find("not expected"), std::string::npos);
  StateReport one{"b", "exposures", 1, {5}, {{0, 10, {}, {5}, expected.Sum()}}};
  EXPECT_TRUE(CompareReports(expected, one).empty())
      << "of another number of partitions the sums are compared";
  one.partitions[0].filters[0].set.digest += {0, 1};
  EXPECT_EQ(CompareReports(expected, one).size(), 1U);
  found = expected;
  found.partitions[0].filters[0].set.without_id = {7, 7};
  EXPECT_EQ(CompareReports(expected, found).size(), 1U);
  one.partitions[0].filters = found.Sum();
  EXPECT_TRUE(CompareReports(expected, one).empty()) << "they are in each partition";
  found = expected;
  found.partitions[0].filters[0].filter = "video";
  EXPECT_EQ(CompareReports(expected, found).size(), 2U) << "one is missing, one is too many";
}

}  // namespace
}  // namespace seen
