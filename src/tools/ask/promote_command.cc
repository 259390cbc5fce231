// seenctl promote: makes a group of daemons the owner of the outputs.
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

struct PromoteOptions {
  AskOptions daemon;
  int64_t timeout_s = 30;
};

int RunPromote(const PromoteOptions& options) {
  auto daemon = DaemonClient::Make(options.daemon.http);
  if (!daemon) return ExitWith(daemon.error());
  const auto before = daemon->Status();
  if (!before) return ExitWith(before.error());
  if (!before->is_replica) {
    fmt::print("group {} is already the owner\n", before->group_that_owns);
    return kExitOk;
  }
  if (const auto place = daemon->Promote(); !place) return ExitWith(place.error());
  const auto until = std::chrono::steady_clock::now() + seconds(options.timeout_s);
  CatchInterrupts();
  while (!Interrupted() && std::chrono::steady_clock::now() < until) {
    const auto now = daemon->Status();
    if (now && !now->is_replica) {
      fmt::print(
          "group {} is the owner now, instead of group {}. To reverse this: seenctl promote --http "
          "ADDRESS-OF-ONE-OF-{}\n",
          now->group_that_owns, before->group_that_owns, before->group_that_owns);
      return kExitOk;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return ExitWith({Code::kUnavailable,
                   "the promotion is written, but the daemon hasn't read it yet: see role in /v1/status"});
}

}  // namespace

Subcommand AddPromote(CLI::App& root) {
  auto options = std::make_shared<PromoteOptions>();
  CLI::App* app = root.add_subcommand(
      "promote", "make a replica's group the owner, which publishes; the former owner becomes a replica");
  AddDaemonOptions(*app, options->daemon.http, "the address of a daemon in the group that becomes the owner");
  app->add_option("--timeout", options->timeout_s,
                  "seconds to wait at most until the daemon's group is the owner")
      ->check(CLI::Range(1, 3'600))
      ->capture_default_str();
  return {app, [options] { return RunPromote(*options); }};
}

}  // namespace seen
