#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/usage.h"

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

}  // namespace

int RunSeenctl(int argc, const char* const* argv) {
  CLI::App app("seenctl: generate, replay, inspect and verify what seend keeps", "seenctl");
  app.set_version_flag("--version", SEEN_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status:\n"
      "  0  all is well\n"
      "  1  a check failed, something was out of reach, or not all was done\n"
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
  for (const Subcommand& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return kExitUsage;
}

}  // namespace seen
