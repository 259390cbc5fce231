// remove, erase: take items back from a user, or erase a user, over HTTP.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/ask/daemon_client.h"
#include "tools/commands.h"
#include "tools/common_options.h"

namespace seen {
namespace {

struct ChangeOptions {
  DaemonAddress http;
  std::string user;
  std::vector<std::string> items;
  bool json = false;
  bool yes = false;
};

/// Asks the person at the terminal. Without a terminal, as in a script, the answer is yes.
bool Confirmed(const std::string& user) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return true;
  fmt::print(stderr, "erase everything about user {}, in every filter? You can't undo this. [y/N] ", user);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int RunChange(const ChangeOptions& options, bool erase) {
  if (erase && !options.yes && !Confirmed(options.user))
    return ExitWith({Code::kRefused, "nothing is erased"});
  auto daemon = DaemonClient::Make(options.http);
  if (!daemon) return ExitWith(daemon.error());
  const auto place = erase ? daemon->Erase(options.user) : daemon->Remove(options.user, options.items);
  if (!place) return ExitWith(place.error());
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"partition", place->partition}, {"offset", place->offset}}.dump());
  } else {
    fmt::print(
        "{}: written to the topic (partition {}, offset {}); takes effect once the daemon has read it\n",
        options.user, place->partition, place->offset);
  }
  return kExitOk;
}

void AddChangeOptions(CLI::App& app, ChangeOptions& options) {
  AddDaemonOptions(app, options.http);
  app.add_option("user", options.user, "user id")->required();
  app.add_flag("--json", options.json, "answer as JSON");
}

}  // namespace

Subcommand AddRemove(CLI::App& root) {
  auto options = std::make_shared<ChangeOptions>();
  CLI::App* app = root.add_subcommand("remove", "take items back from a user, in every filter");
  AddChangeOptions(*app, *options);
  app->add_option("items", options->items, "item ids, at most 1,000")->required();
  return {app, [options] { return RunChange(*options, false); }};
}

Subcommand AddErase(CLI::App& root) {
  auto options = std::make_shared<ChangeOptions>();
  CLI::App* app = root.add_subcommand("erase", "erase a user, in every filter");
  AddChangeOptions(*app, *options);
  app->add_flag("--yes", options->yes, "don't ask on a terminal");
  return {app, [options] { return RunChange(*options, true); }};
}

}  // namespace seen
