// why: whether an item would be dropped for a user, and the reason.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/ask/daemon_client.h"
#include "tools/ask/why_report.h"
#include "tools/commands.h"
#include "tools/common_options.h"

namespace seen {
namespace {

struct WhyOptions {
  AskOptions daemon;
  std::string user;
  std::string item;
  bool json = false;
};

int RunWhy(const WhyOptions& options) {
  auto daemon = DaemonClient::Make(options.daemon.http);
  if (!daemon) return ExitWith(daemon.error());
  const auto answer = daemon->Why(options.daemon.filter, options.user, options.item);
  if (!answer) return ExitWith(answer.error());
  try {
    fmt::print("{}", options.json ? answer->dump(2) + "\n" : WhyText(*answer));
  } catch (const nlohmann::json::exception& error) {
    return ExitWith({Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what())});
  }
  return kExitOk;
}

}  // namespace

Subcommand AddWhy(CLI::App& root) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* app = root.add_subcommand("why", "whether an item would be dropped for a user, and why");
  AddAskOptions(*app, options->daemon);
  app->add_option("user", options->user, "user id")->required();
  app->add_option("item", options->item, "item id")->required();
  app->add_flag("--json", options->json, "answer as JSON");
  return {app, [options] { return RunWhy(*options); }};
}

}  // namespace seen
