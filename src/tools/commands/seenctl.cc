#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "tools/commands.h"
#include "tools/common_options.h"

namespace seen {
namespace {

/// Adds the commands in the order of the help, under its headings.
std::vector<Subcommand> AddCommands(CLI::App& root) {
  std::vector<Subcommand> commands = {AddConfig(root)};
  for (Subcommand& command : AddDaemonCommands(root)) commands.push_back(std::move(command));
  const auto add = [&](const char* purpose, std::initializer_list<Subcommand (*)(CLI::App&)> several) {
    for (const auto each : several) {
      commands.push_back(each(root));
      commands.back().app->group(purpose);
    }
  };
  add("Bring in history, or load", {AddReplay, AddDeadLetters, AddGenerate});
  add("Check", {AddVerify});
  for (Subcommand& command : AddStateCommands(root)) commands.push_back(std::move(command));
  add("Keep and move state", {AddSize});
  return commands;
}

// --- mistakes on the command line, with the nearest known word

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

/// Looks at the first word that isn't an option. If this word is no command, returns an error text that names
/// the word and the nearest command. Otherwise empty.
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

/// The first value that is empty, as that of a shell variable that isn't set. Left alone, it would count as
/// if the option weren't there. Empty: each value has bytes.
std::string EmptyValue(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const auto& values = option->results();
    if (option->get_expected_max() > 0 && std::find(values.begin(), values.end(), "") != values.end()) {
      return fmt::format("{}: \"\": the value is empty. Give one, or leave it out",
                         option->get_name(!option->nonpositional()));
    }
  }
  for (const CLI::App* parsed : command.get_subcommands()) {
    if (std::string empty = EmptyValue(*parsed); !empty.empty()) return empty;
  }
  return {};
}

/// Runs the command. Fails if its output can't be written, such as to a full disk.
int Run(const Subcommand& command) {
  int status = kExitFailed;
  try {
    status = command.run();
  } catch (const std::system_error& error) {  // fmt::print throws
    return ExitWith({Code::kUnavailable, error.what()});
  }
  if (std::ferror(stdout) == 0 && std::fflush(stdout) == 0) return status;
  return ExitWith(
      {Code::kUnavailable, fmt::format("standard output: not all was written: {}", std::strerror(errno))});
}

/// The text to print for a mistake in a command's options.
std::string ExplainMistake(const CLI::App& root, const CLI::Error& error) {
  std::string command = "seenctl";
  std::string what = error.what();
  for (const CLI::App* parsed : root.get_subcommands()) {
    command += " " + parsed->get_name();
    if (const std::string unknown = UnknownOption(*parsed); !unknown.empty()) what = unknown;
  }
  return fmt::format("{} {}\nRun `{} --help` for a list.\n", Painted(Paint::kBad, "seenctl:", stderr),
                     PrintableLines(what), command);
}

}  // namespace

int RunSeenctl(int argc, const char* const* argv) {
  CLI::App app("seenctl: generate, replay, inspect and verify what seend keeps", "seenctl");
  app.set_version_flag("--version", SEEN_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status:\n"
      "  0  all is well\n"
      "  1  a check failed, something was out of reach or not there, or not all was done\n"
      "  2  an argument is wrong, or a file that it names is missing\n"
      "  3  too many lines of the input can't be used (--rejects-max)");
  app.failure_message([&](const CLI::App*, const CLI::Error& error) { return ExplainMistake(app, error); });
  const std::vector<Subcommand> commands = AddCommands(app);
  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return kExitUsage;
  }
  if (const std::string unknown = UnknownCommand(app, argc, argv); !unknown.empty())
    return ExitWith({Code::kInvalidArgument, unknown + " `seenctl --help` lists the commands"});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (const std::string empty = EmptyValue(app); !empty.empty())
    return ExitWith({Code::kInvalidArgument, empty});
  for (const Subcommand& command : commands) {
    if (command.app->parsed()) return Run(command);
  }
  return kExitUsage;
}

}  // namespace seen
