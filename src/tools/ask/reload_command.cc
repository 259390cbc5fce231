// seenctl reload: the daemon reads its configuration again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/ask/daemon_client.h"
#include "tools/commands.h"
#include "tools/common_options.h"

namespace seen {
namespace {

void PrintKeys(const nlohmann::json& report, const char* name, const char* words) {
  for (const auto& key : report.value(name, nlohmann::json::array())) {
    fmt::print("{:20} {}\n", words, key.get<std::string>());
  }
}

int RunReload(const DaemonAddress& address, bool json) {
  auto daemon = DaemonClient::Make(address);
  if (!daemon) return ExitWith(daemon.error());
  const auto report = daemon->Reload();
  if (!report) return ExitWith(report.error());
  if (json) {
    fmt::print("{}\n", report->dump());
    return kExitOk;
  }
  PrintKeys(*report, "applied", "applied");
  PrintKeys(*report, "waits_for_restart", "waits for a restart");
  if (report->value("applied", nlohmann::json::array()).empty()) fmt::print("nothing to apply\n");
  return kExitOk;
}

}  // namespace

Subcommand AddReload(CLI::App& root) {
  struct Options {
    DaemonAddress daemon;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* app = root.add_subcommand(
      "reload", "have the daemon read its configuration again; see \"config explain KEY\"");
  AddDaemonOptions(*app, options->daemon);
  app->add_flag("--json", options->json, "the daemon's answer as JSON");
  return {app, [options] { return RunReload(options->daemon, options->json); }};
}

}  // namespace seen
