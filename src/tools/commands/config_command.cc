// seenctl config explain: explains a key of the configuration, from the table that also checks it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "config/config_keys.h"
#include "tools/commands.h"
#include "tools/common_options.h"

namespace seen {
namespace {

/// Removes the brackets of lists: "filters[0].window_days" and "filters[].window_days" become
/// "filters.window_days".
std::string Plain(std::string_view path) {
  std::string plain;
  bool in_brackets = false;
  for (const char letter : path) {
    if (letter == '[') in_brackets = true;
    if (!in_brackets) plain += letter;
    if (letter == ']') in_brackets = false;
  }
  return plain;
}

/// Prints lines of at most 80 columns, of which the first begins with `name`.
void ExplainPart(std::string_view name, std::string_view text) {
  constexpr size_t kColumns = 80;
  std::string line = fmt::format("  {:9}", name);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (line.size() + 1 + word.size() > kColumns) {
      fmt::print("{}\n", line);
      line.assign(11, ' ');
    }
    line.append(" ").append(word);
  }
  fmt::print("{}\n", line);
}

void ExplainKey(const ConfigKey& key) {
  fmt::print("{}\n", Painted(Paint::kTitle, key.path, stdout));
  if (key.type != ConfigType::kSection) {
    ExplainPart("value", DescribeRange(key));
    ExplainPart("default", key.default_json.empty() ? "none: you must give a value" : key.default_json);
    ExplainPart("changes", key.is_live ? "at a reload: seenctl config reload, or SIGHUP" : "at a restart");
  }
  ExplainPart("meaning", key.meaning);
}

int RunExplain(const std::string& asked) {
  const std::string plain = Plain(asked);
  std::vector<const ConfigKey*> found;
  for (const ConfigKey& key : ConfigKeys()) {
    const std::string path = Plain(key.path);
    if (path == plain) {
      found.insert(found.begin(), &key);
    } else if (plain.empty() || path.starts_with(plain + ".")) {
      found.push_back(&key);  // a key of the section that was asked for
    }
  }
  if (found.empty()) {
    // People often remember only the last part of a key.
    for (const ConfigKey& key : ConfigKeys()) {
      if (Plain(key.path).ends_with("." + plain)) found.push_back(&key);
    }
  }
  if (found.empty()) {
    std::vector<std::string_view> paths;
    for (const ConfigKey& key : ConfigKeys()) paths.push_back(key.path);
    return ExitWith({Code::kInvalidArgument, fmt::format("config explain: {}: no such key; did you mean {}?",
                                                         asked, NearestWord(paths, plain))});
  }
  for (const ConfigKey* key : found) ExplainKey(*key);
  return kExitOk;
}

}  // namespace

Subcommand AddConfig(CLI::App& root) {
  auto asked = std::make_shared<std::string>();
  CLI::App* app = root.add_subcommand("config", "explain the configuration, or have a daemon read it again");
  app->group("Ask a daemon");
  app->require_subcommand(1);
  CLI::App* explain = app->add_subcommand(
      "explain", "print a key's meaning, values and default; for a section, all of its keys");
  explain->add_option("KEY", *asked,
                      "such as store.memory_mib, filters.window_days or window_days; without KEY: all keys");
  return {explain, [asked] { return RunExplain(*asked); }};
}

}  // namespace seen
