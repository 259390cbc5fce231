// seenctl status: a daemon on one screen.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "tools/ask/daemon_client.h"
#include "tools/ask/status_screen.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/terminal.h"

namespace seen {
namespace {

struct StatusOptions {
  DaemonAddress http;
  double watch_s = 0;
  bool json = false;
};

/// Redraws in place at a terminal. Otherwise prints one screen after another.
void Show(const StatusScreen& screen, const std::string& http, bool in_place) {
  const Paint paint = screen.is_well ? Paint::kGood : Paint::kBad;
  fmt::print("{}{}  {}\n{}", in_place ? "\x1b[H\x1b[2J" : "", Painted(paint, screen.verdict, stdout), http,
             screen.text);
  std::fflush(stdout);
}

int RunStatus(const StatusOptions& options) {
  auto daemon = DaemonClient::Make(options.http);
  if (!daemon) return ExitWith(daemon.error());
  const bool watches = options.watch_s > 0;
  const bool in_place = watches && isatty(STDOUT_FILENO) != 0;
  if (watches) CatchInterrupts();
  for (;;) {
    const auto status = daemon->WholeStatus();
    // An operator who watches a restart must see the daemon come back.
    if (!status && !watches) return ExitWith(status.error());
    const StatusScreen screen =
        status
            ? MakeStatusScreen(*status, SystemClock().WallNow())
            : StatusScreen{.is_well = false, .verdict = "NO ANSWER", .text = status.error().message + "\n"};
    if (options.json && status) {
      fmt::print("{}\n", status->dump());
    } else {
      Show(screen, options.http.base, in_place);
    }
    if (!watches) return screen.is_well ? kExitOk : kExitFailed;
    const Instant until = SystemClock().Now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                    std::chrono::duration<double>(options.watch_s));
    while (!Interrupted() && SystemClock().Now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (Interrupted()) return screen.is_well ? kExitOk : kExitFailed;
    if (!in_place) fmt::print("\n");
  }
}

}  // namespace

Subcommand AddStatus(CLI::App& root) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* app =
      root.add_subcommand("status", "a daemon on one screen: whether it is well, and if not, why");
  AddDaemonOptions(*app, options->http);
  app->add_option("--watch", options->watch_s,
                  "draw the screen again every so many seconds, until Ctrl-C; default: 2")
      ->expected(0, 1)
      ->default_str("2")
      ->check(CLI::Range(0.1, 3600.0));
  app->add_flag("--json", options->json, "print the daemon's JSON as it is");
  return {app, [options] { return RunStatus(*options); }};
}

}  // namespace seen
