// The pages that are generated from the table of keys. SEEN_WRITE_GOLDEN=1 rewrites them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "config/config.h"
#include "config/config_keys.h"

namespace seen {
namespace {

const std::string kSource = SEEN_SOURCE_DIR;
constexpr std::string_view kBegin = "<!-- generated from src/config/config_keys.cc: begin -->\n";
constexpr std::string_view kEnd = "<!-- generated: end -->\n";

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void ExpectGolden(const std::string& path, const std::string& expected) {
  if (std::getenv("SEEN_WRITE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << expected;
  EXPECT_TRUE(Read(path) == expected)
      << path << " is not what the table of keys generates: run with SEEN_WRITE_GOLDEN=1";
}

TEST(ConfigReference, IsWhatTheCommittedSchemaSays) {
  ExpectGolden(kSource + "/schemas/config.schema.json", ConfigSchema());
}

TEST(ConfigReference, IsWhatTheCommittedPageSays) {
  const std::string path = kSource + "/docs/CONFIGURATION.md";
  const std::string page = Read(path);
  const size_t begin = page.find(kBegin);
  const size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  ExpectGolden(path,
               page.substr(0, begin) + std::string(kBegin) + "\n" + ConfigKeyTables() + page.substr(end));
}

TEST(ConfigReference, IsFollowedByTheExampleConfigurations) {
  const auto full = LoadConfig(Read(kSource + "/config/seend.json"));
  ASSERT_TRUE(full) << full.error()[0].path << full.error()[0].message;
  // The annotated example claims to show defaults.
  const std::vector<std::string> brokers = {"kafka.brokers=127.0.0.1:9092"};
  EXPECT_EQ(full->effective_json, LoadConfig("{}", brokers)->effective_json);
  EXPECT_TRUE(LoadConfig(Read(kSource + "/config/compose.json")));
  EXPECT_TRUE(LoadConfig(Read(kSource + "/config/cluster.json")));
  EXPECT_TRUE(LoadConfig(Read(kSource + "/config/demo.json"), {}, {.embedded_kafka = true}));
}

}  // namespace
}  // namespace seen
