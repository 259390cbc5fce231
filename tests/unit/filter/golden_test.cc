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

/// What this reader says of each file that it refuses.
std::string Messages() {
  std::string lines;
  for (const auto& snapshot : golden::Refused()) {
    if (snapshot.needs_updates) continue;
    const auto view = SnapshotView::Parse(snapshot.bytes);
    lines += snapshot.file + ": " + (view ? "it is read" : view.error().message) + "\n";
  }
  return lines;
}

std::vector<std::pair<std::string, std::string>> Files() {
  std::vector<std::pair<std::string, std::string>> files = {{"index.json", golden::Index()},
                                                            {"refused.txt", Messages()},
                                                            {"watermarks.json", golden::WatermarkCases()},
                                                            {"also_seen.json", golden::AlsoSeenCases()}};
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

void ExpectSimilar(const golden::GoldenSnapshot& snapshot, const SnapshotView& view) {
  EXPECT_EQ(view.has_similar(), snapshot.file.starts_with("similar_"));
  if (!view.has_similar()) return;
  const golden::GoldenSimilar& similar = snapshot.similar;
  if (snapshot.counts) {
    EXPECT_EQ(view.similar()->fingerprint_count, similar.near.size() + similar.groups.size());
  }
  EXPECT_GE(std::min(similar.not_near.size(), similar.not_groups.size()), 8u);
  for (const std::string& id : similar.near) EXPECT_TRUE(view.MightBeNear(id)) << id;
  for (const std::string& id : similar.groups) EXPECT_TRUE(view.MightHoldGroup(id)) << id;
  for (const std::string& id : similar.not_near) EXPECT_FALSE(view.MightBeNear(id)) << id;
  for (const std::string& id : similar.not_groups) EXPECT_FALSE(view.MightHoldGroup(id)) << id;
}

/// If a reader leaves out days of a chain, it must answer no for nearly all items of these days.
void ExpectLeftOut(const golden::GoldenSnapshot& snapshot, const SnapshotView& view) {
  const auto* const chain = std::get_if<DayChainView>(&view.view());
  if (chain == nullptr || !snapshot.created_second) return;
  size_t older = 0, before = 0, still_older = 0, still_before = 0;
  for (const golden::GoldenDay& day : snapshot.days) {
    for (const std::string& id : day.seen) {
      const Fingerprint f = FingerprintOf(id);
      EXPECT_TRUE(chain->MightContain(f, day.last_second, day.day)) << id;
      if (day.last_second < *snapshot.created_second) {
        ++older;
        still_older += chain->MightContain(f, *snapshot.created_second) ? 1U : 0U;
      }
      if (day.day < *snapshot.from_day) {
        ++before;
        still_before += chain->MightContain(f, 0, *snapshot.from_day) ? 1U : 0U;
      }
    }
  }
  EXPECT_GT(std::min(older, before), 3u);
  EXPECT_LE(std::max(still_older, still_before), 1u);
}

TEST(GoldenSnapshots, AnswerAsTheIndexSays) {
  for (const auto& snapshot : golden::Snapshots()) {
    SCOPED_TRACE(snapshot.file);
    const std::string bytes = ReadFile(Directory() / snapshot.file);
    const auto view = SnapshotView::Parse(bytes);
    ASSERT_TRUE(view) << view.error().message;
    if (snapshot.counts) {
      EXPECT_EQ(view->meta().item_count, snapshot.seen.size() + snapshot.seen_fingerprints.size());
    }
    for (const std::string& id : snapshot.seen) {
      EXPECT_TRUE(view->MightContain(id)) << id;
      if (view->meta().format != SnapshotFormat::kSplitBlockBloom) continue;
      EXPECT_TRUE(reference::MightContain(view->payload(), FingerprintOf(id))) << id;
    }
    EXPECT_GE(snapshot.unseen.size(), 8u);
    for (const std::string& id : snapshot.unseen) {
      EXPECT_FALSE(view->MightContain(id)) << id;
      if (view->meta().format != SnapshotFormat::kSplitBlockBloom) continue;
      EXPECT_FALSE(reference::MightContain(view->payload(), FingerprintOf(id))) << id;
    }
    for (const Fingerprint f : snapshot.seen_fingerprints) EXPECT_TRUE(view->MightContain(f)) << f.value;
    for (const Fingerprint f : snapshot.unseen_fingerprints) EXPECT_FALSE(view->MightContain(f)) << f.value;
    for (const golden::GoldenEntry& entry : snapshot.entries) {
      const auto found = std::get<IndexedCuckooView>(view->view()).Find(FingerprintOf(entry.id));
      EXPECT_EQ(std::count(found.begin(), found.end(), entry.item), 1) << entry.id;
    }
    ExpectSimilar(snapshot, *view);
    ExpectLeftOut(snapshot, *view);
  }
}

/// The step of "What to refuse", from the reader's message.
int StepOf(const std::string& message) {
  const std::pair<const char*, int> kSays[] = {
      {"snapshot: does not start with", 1},
      {"the header alone has", 1},
      {"snapshot: version", 2},
      {"; with what is similar it is", 8},
      {"snapshot: header_bytes", 3},
      {"the header says", 4},
      {"the checksum does not match", 5},
      {"snapshot: format", 6},
      {"snapshot: hash", 6},
      {"snapshot: flags", 6},
      {"false_positive_rate", 7},
      {"snapshot: similar_", 8},
      {"payload: ", 9},
  };
  for (const auto& [says, step] : kSays) {
    if (message.find(says) != std::string::npos) return step;
  }
  return 0;
}

TEST(GoldenSnapshots, AreRefusedAtTheStepThatTheIndexNames) {
  for (const auto& snapshot : golden::Refused()) {
    if (snapshot.needs_updates) continue;
    const auto view = SnapshotView::Parse(ReadFile(Directory() / snapshot.file));
    ASSERT_FALSE(view) << snapshot.file;
    EXPECT_EQ(view.error().code, Code::kMalformed) << snapshot.file;
    EXPECT_EQ(StepOf(view.error().message), snapshot.step) << snapshot.file << ": " << view.error().message;
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
