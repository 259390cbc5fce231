// The pages that are generated from the table of keys. SEEN_WRITE_GOLDEN=1 rewrites them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "config/config.h"
#include "config/config_keys.h"
#include "config/config_shapes.h"

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

constexpr std::string_view kTableHead = "| key | default | must be | meaning |\n| --- | --- | --- | --- |\n";

/// DescribeRange, with the words that the page explains once, under "Values". A default of null says by
/// itself that the key may be null.
std::string BriefRange(const ConfigKey& key) {
  static const std::pair<std::string_view, std::string_view> kWords[] = {
      {kTopicName.description, "a topic name"},
      {"1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-'", "a name"},
      {kPath.description, "a path"},
      {kFieldShape.description, "a pointer"},
      {kTimeFieldShape.description, "a time pointer"},
      {kConditionsShape.description, "conditions"},
      {"a whole number from ", ""},
      {"one of ", ""}};
  constexpr std::string_view kOrNull = ", or null";
  std::string text = DescribeRange(key);
  for (const auto& [words, brief] : kWords) {
    if (text.starts_with(words)) text.replace(0, words.size(), brief);
  }
  if (key.default_json == "null" && text.ends_with(kOrNull)) text.resize(text.size() - kOrNull.size());
  return text;
}

void AppendRow(const ConfigKey& key, std::string& out) {
  std::string fallback = key.default_json.empty() ? "none" : fmt::format("`{}`", key.default_json);
  if (key.type == ConfigType::kSection) fallback = "as below";
  out += fmt::format("| `{}` | {} | {} | {}{} |\n", key.path, fallback, BriefRange(key), key.meaning,
                     key.is_live ? " *Reload.*" : "");
}

void AppendRows(const ConfigNode& section, std::string& out) {
  for (const ConfigNode& node : section.children) {
    const ConfigKey& key = *node.key;
    AppendRow(key, out);
    if (key.type == ConfigType::kSection) AppendRows(node, out);
  }
}

/// The tables of docs/CONFIGURATION.md in Markdown, one per section.
std::string ConfigKeyTables() {
  std::string out = fmt::format("### Outside sections\n\n{}", kTableHead);
  for (const ConfigNode& node : ConfigTree().children) {
    if (node.children.empty()) AppendRow(*node.key, out);
  }
  out += '\n';
  for (const ConfigNode& section : ConfigTree().children) {
    if (section.children.empty()) continue;
    out += fmt::format("### `{}`\n\n{}\n\n{}", section.name, section.key->meaning, kTableHead);
    AppendRows(section, out);
    out += '\n';
  }
  return out;
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
