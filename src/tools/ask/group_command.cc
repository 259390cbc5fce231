// group: the items that are copies or near-copies of an item.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/ask/daemon_client.h"
#include "tools/ask/group_report.h"
#include "tools/commands.h"
#include "tools/common_options.h"

namespace seen {
namespace {

struct GroupCommandOptions {
  DaemonAddress http;
  std::string item;
  std::string after;
  bool json = false;
};

int RunGroup(const GroupCommandOptions& options) {
  auto daemon = DaemonClient::Make(options.http);
  if (!daemon) return ExitWith(daemon.error());
  const auto answer = daemon->Group(options.item, options.after);
  if (!answer) return ExitWith(answer.error());
  try {
    fmt::print("{}", options.json ? answer->dump(2) + "\n" : GroupText(*answer));
  } catch (const nlohmann::json::exception& error) {
    return ExitWith({Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what())});
  }
  return kExitOk;
}

}  // namespace

Subcommand AddGroup(CLI::App& root) {
  auto options = std::make_shared<GroupCommandOptions>();
  CLI::App* app = root.add_subcommand("group", "which items are copies or near-copies of an item");
  AddDaemonOptions(*app, options->http);
  app->add_option("item", options->item, "item id")->required();
  app->add_option("--after", options->after, "the next page: members after this item id");
  app->add_flag("--json", options->json, "answer as JSON");
  return {app, [options] { return RunGroup(*options); }};
}

}  // namespace seen
