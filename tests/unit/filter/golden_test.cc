// The bytes on disk are the contract: a change that fails here breaks every reader out there. Should a new
// file be added on purpose: SEEN_WRITE_GOLDEN=1 test_filter --gtest_filter='Golden*'.

#include <gtest/gtest.h>

#include <algorithm>
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
    EXPECT_EQ(view->has_similar(), snapshot.file.starts_with("similar_"));
    if (!view->has_similar()) continue;
    const golden::GoldenSimilar& similar = snapshot.similar;
    EXPECT_EQ(view->similar()->fingerprint_count, similar.near.size() + similar.groups.size());
    EXPECT_GE(std::min(similar.not_near.size(), similar.not_groups.size()), 8u);
    for (const std::string& id : similar.near) EXPECT_TRUE(view->MightBeNear(id)) << id;
    for (const std::string& id : similar.groups) EXPECT_TRUE(view->MightHoldGroup(id)) << id;
    for (const std::string& id : similar.not_near) EXPECT_FALSE(view->MightBeNear(id)) << id;
    for (const std::string& id : similar.not_groups) EXPECT_FALSE(view->MightHoldGroup(id)) << id;
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
  const std::string bytes = {'\x04', '\x03', '\x02', '\x01'};
  const Fingerprint any{0x01020304};
  EXPECT_EQ(NearFingerprintOf(any).value, reference::Xxh64(bytes + '\1') >> 32);
  EXPECT_EQ(GroupFingerprintOf(any).value, reference::Xxh64(bytes + '\2') >> 32);
}

}  // namespace
}  // namespace seen
