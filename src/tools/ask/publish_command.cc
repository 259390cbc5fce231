// seenctl publish: re-renders all snapshots.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "tools/ask/daemon_client.h"
#include "tools/commands.h"
#include "tools/common_options.h"

namespace seen {
namespace {
using std::chrono::seconds;

struct PublishOptions {
  AskOptions daemon;
  bool all = false;
  bool no_wait = false;
  int64_t timeout_s = 3600;
};

int RunPublish(const PublishOptions& options) {
  auto daemon = DaemonClient::Make(options.daemon.http);
  if (!daemon) return ExitWith(daemon.error());
  const auto before = daemon->Status();
  if (!before) return ExitWith(before.error());
  const auto partitions = daemon->PublishAll();
  if (!partitions) return ExitWith(partitions.error());
  fmt::print("re-rendering all users' snapshots in {} partitions of this daemon\n", *partitions);
  if (options.no_wait) return kExitOk;
  CatchInterrupts();
  const auto until = std::chrono::steady_clock::now() + seconds(options.timeout_s);
  while (!Interrupted() && std::chrono::steady_clock::now() < until) {
    const auto now = daemon->Status();
    if (!now) return ExitWith(now.error());
    if (now->partitions_sweeping == 0 && now->marks_outstanding == 0) {
      fmt::print("{} snapshots re-rendered, all acknowledged\n", now->users_swept - before->users_swept);
      return kExitOk;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return ExitWith({Code::kUnavailable, "not done yet; the daemon continues: see republish in /v1/status"});
}

}  // namespace

Subcommand AddPublish(CLI::App& root) {
  auto options = std::make_shared<PublishOptions>();
  CLI::App* app =
      root.add_subcommand("publish", "re-render all users' snapshots, and wait until they are acknowledged");
  AddDaemonOptions(*app, options->daemon.http);
  app->add_flag("--all", options->all, "of all users and filters; this is the default");
  app->add_flag("--no-wait", options->no_wait, "return at once");
  app->add_option("--timeout", options->timeout_s, "seconds to wait at most")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  return {app, [options] { return RunPublish(*options); }};
}

}  // namespace seen
