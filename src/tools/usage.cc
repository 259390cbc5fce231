#include "tools/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "tools/common_options.h"

namespace seen {
namespace {

std::string Meant(const std::vector<std::string>& words, const std::string& unknown) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  const std::string_view nearest = NearestWord(views, unknown);
  const bool is_near = !nearest.empty() && EditDistance(unknown, nearest) <= unknown.size() / 2;
  return is_near ? fmt::format("; did you mean {}?", nearest) : std::string();
}

std::string UnknownOption(const CLI::App& command) {
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  for (const std::string& word : command.remaining()) {
    const std::string option = word.substr(0, word.find('='));
    if (option.starts_with("-")) return fmt::format("{}: no such option{}", option, Meant(options, option));
  }
  return {};
}

}  // namespace

CLI::Validator NotNegative() {
  return {[](std::string& text) {
            double number = 0;
            const bool is_number = CLI::detail::lexical_cast(text, number);
            return is_number && number >= 0 ? std::string()
                                            : fmt::format("{}: expected a number, 0 or more", text);
          },
          "NUMBER"};
}

std::string UnknownCommand(const CLI::App& root, int argc, const char* const* argv) {
  const auto word = std::find_if(argv + 1, argv + argc, [](const char* each) { return each[0] != '-'; });
  if (word == argv + argc) return {};
  std::vector<std::string> commands;
  for (const CLI::App* command : root.get_subcommands({})) commands.push_back(command->get_name());
  const bool is_known = std::find(commands.begin(), commands.end(), *word) != commands.end();
  if (is_known) return {};
  const std::string meant = Meant(commands, *word);
  return fmt::format("{}: no such command{}", *word, meant.empty() ? "." : meant);
}

std::string ExplainMistake(const CLI::App& root, const CLI::Error& error) {
  std::string command = "seenctl";
  std::string what = error.what();
  for (const CLI::App* parsed : root.get_subcommands()) {
    command += " " + parsed->get_name();
    if (const std::string unknown = UnknownOption(*parsed); !unknown.empty()) what = unknown;
  }
  return fmt::format("{} {}\nRun `{} --help` for a list.\n", Painted(Paint::kBad, "seenctl:", stderr), what,
                     command);
}

}  // namespace seen
