// The contract with readers of updates in other languages. Should a file change on purpose:
// SEEN_WRITE_GOLDEN=1 test_filter --gtest_filter='GoldenUpdates*'. The readers in clients/ are held to these
// files; the C++ reader's tests check the answers of the sequences.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "unit/filter/golden_updates.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

fs::path Directory() { return fs::path(SEEN_SOURCE_DIR) / "tests/golden/update"; }

TEST(GoldenUpdates, HaveTheBytesOnDisk) {
  const std::pair<const char*, std::string> files[] = {{"index.json", golden::UpdatesIndex()},
                                                       {"sequences.json", golden::UpdateSequences()}};
  for (const auto& [name, text] : files) {
    if (std::getenv("SEEN_WRITE_GOLDEN") != nullptr)
      std::ofstream(Directory() / name, std::ios::binary) << text;
    std::ostringstream on_disk;
    on_disk << std::ifstream(Directory() / name, std::ios::binary).rdbuf();
    EXPECT_TRUE(on_disk.str() == text) << name << " differs";
  }
}

TEST(GoldenUpdates, AreWhatTheDaemonWrites) {
  int by_daemon = 0;
  for (const golden::GoldenUpdate& update : golden::Updates()) {
    EXPECT_EQ(golden::WrittenByDaemon(update) == golden::Encoded(update), update.by_daemon) << update.name;
    by_daemon += update.by_daemon ? 1 : 0;
  }
  EXPECT_EQ(by_daemon, 15);
}

TEST(GoldenUpdates, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const golden::GoldenUpdate& update : golden::Updates()) EXPECT_TRUE(names.insert(update.name).second);
  for (const golden::RefusedUpdate& update : golden::RefusedUpdates())
    EXPECT_TRUE(names.insert(update.name).second) << update.name;
}

}  // namespace
}  // namespace seen
