// The bytes on disk are the contract: a change that fails here breaks every reader out there. Should a new
// file be added on purpose: SEEN_WRITE_GOLDEN=1 test_filter --gtest_filter='Golden*'.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "filter/snapshot.h"
#include "unit/filter/golden_snapshots.h"
#include "unit/filter/reference_bloom.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

fs::path Directory() { return fs::path(SEEN_SOURCE_DIR) / "tests/golden/snapshot"; }

std::vector<std::pair<std::string, std::string>> Files() {
  std::vector<std::pair<std::string, std::string>> files = {{"index.json", golden::Index()}};
  for (const auto& snapshot : golden::Snapshots()) files.emplace_back(snapshot.file, snapshot.bytes);
  for (const auto& snapshot : golden::Refused()) files.emplace_back(snapshot.file, snapshot.bytes);
  return files;
}

std::string ReadFile(const fs::path& path) {
  std::ostringstream bytes;
  const std::ifstream file(path, std::ios::binary);
  if (fs::file_size(path) > 0) bytes << file.rdbuf();
  return bytes.str();
}

TEST(GoldenSnapshots, HaveTheBytesOnDisk) {
  const bool write = std::getenv("SEEN_WRITE_GOLDEN") != nullptr;
  std::set<std::string> names;
  for (const auto& [name, bytes] : Files()) {
    ASSERT_TRUE(names.insert(name).second) << name << " is made twice";
    if (write) std::ofstream(Directory() / name, std::ios::binary) << bytes;
    ASSERT_TRUE(fs::exists(Directory() / name)) << name;
    EXPECT_TRUE(ReadFile(Directory() / name) == bytes) << name << " differs";
  }
  for (const auto& entry : fs::directory_iterator(Directory())) {
    EXPECT_TRUE(names.contains(entry.path().filename().string())) << entry.path() << " is made by nobody";
  }
}

TEST(GoldenSnapshots, AnswerAsTheIndexSays) {
  for (const auto& snapshot : golden::Snapshots()) {
    SCOPED_TRACE(snapshot.file);
    const std::string bytes = ReadFile(Directory() / snapshot.file);
    const auto view = SnapshotView::Parse(bytes);
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(view->meta().item_count, snapshot.seen.size());
    for (const std::string& id : snapshot.seen) {
      EXPECT_TRUE(view->MightContain(id)) << id;
      if (view->meta().format != SnapshotFormat::kSplitBlockBloom) continue;
      EXPECT_TRUE(reference::MightContain(view->payload(), FingerprintOf(id))) << id;
    }
    EXPECT_GE(snapshot.unseen.size(), 8u);
    for (const std::string& id : snapshot.unseen) EXPECT_FALSE(view->MightContain(id)) << id;
  }
}

TEST(GoldenSnapshots, AreRefusedWhereTheIndexSaysSo) {
  for (const auto& snapshot : golden::Refused()) {
    const auto view = SnapshotView::Parse(ReadFile(Directory() / snapshot.file));
    EXPECT_FALSE(view) << snapshot.file;
  }
}

TEST(GoldenSnapshots, HoldTheFingerprintsTheFormatNames) {
  // XXH64's published values for the empty text and "abc".
  EXPECT_EQ(reference::Xxh64(""), 0xEF46DB3751D8E999U);
  EXPECT_EQ(reference::Xxh64("abc"), 0x44BC2CF5AD770999U);
  EXPECT_EQ(FingerprintOf("abc").value, 0x44BC2CF5U);
}

}  // namespace
}  // namespace seen
