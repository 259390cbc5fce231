// seenctl status: a daemon on one screen. seenctl lost: what retention took before it was read.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "tools/ask/calendar.h"
#include "tools/ask/daemon_client.h"
#include "tools/ask/status_screen.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/terminal.h"

namespace seen {
namespace {

struct StatusOptions {
  std::string http = AskOptions{}.http;
  double watch_s = 0;
  bool json = false;
};

/// Redraws in place at a terminal; else one screen after another.
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
    // Whoever watches a restart wants to see it come back.
    if (!status && !watches) return ExitWith(status.error());
    const StatusScreen screen =
        status
            ? MakeStatusScreen(*status, SystemClock().WallNow())
            : StatusScreen{.is_well = false, .verdict = "NO ANSWER", .text = status.error().message + "\n"};
    if (options.json && status) {
      fmt::print("{}\n", status->dump());
    } else {
      Show(screen, options.http, in_place);
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

struct LostOptions {
  std::string http = AskOptions{}.http;
  bool acknowledge = false;
  bool json = false;
};

int RunLost(const LostOptions& options) {
  auto daemon = DaemonClient::Make(options.http);
  if (!daemon) return ExitWith(daemon.error());
  const auto status = daemon->WholeStatus();
  if (!status) return ExitWith(status.error());
  nlohmann::json lost = nlohmann::json::array();
  for (const auto& partition : status->value("partitions", nlohmann::json::array())) {
    for (auto range : partition.value("lost_ranges", nlohmann::json::array())) {
      range["partition"] = partition.at("partition");
      lost.push_back(std::move(range));
    }
  }
  if (options.acknowledge && !lost.empty()) {
    if (Status acknowledged = daemon->AcknowledgeLost(); !acknowledged) return ExitWith(acknowledged.error());
  }
  if (options.json) {
    fmt::print("{}\n", nlohmann::json{{"lost_ranges", lost}, {"acknowledged", options.acknowledge}}.dump());
    return lost.empty() || options.acknowledge ? kExitOk : kExitFailed;
  }
  for (const auto& range : lost) {
    fmt::print("partition {}: {} messages, offsets {} to below {}, noticed {}\n",
               range.at("partition").get<int32_t>(), WithThousands(range.at("messages").get<uint64_t>()),
               range.at("from_offset").get<int64_t>(), range.at("to_offset").get<int64_t>(),
               TimeText(TimeMs{range.at("noticed_at_ms").get<int64_t>()}));
  }
  if (lost.empty()) {
    fmt::print("no lost messages that nobody has acknowledged, in this daemon's partitions\n");
    return kExitOk;
  }
  if (options.acknowledge) {
    fmt::print("acknowledged; it is durable with the next checkpoint\n");
    return kExitOk;
  }
  fmt::print(
      "these exposures are in no filter. Replay them from where they came, then: seenctl lost "
      "--acknowledge\n");
  return kExitFailed;
}

}  // namespace

Subcommand AddStatus(CLI::App& root) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* app = root.add_subcommand("status", "a daemon on one screen: is it well, and if not, why");
  app->add_option("--http", options->http, "the daemon's address")->capture_default_str();
  app->add_option("--watch", options->watch_s,
                  "draw it again every so many seconds, until Ctrl-C; by default 2")
      ->expected(0, 1)
      ->default_str("2")
      ->check(CLI::Range(0.1, 3600.0));
  app->add_flag("--json", options->json, "the daemon's JSON as it is");
  return {app, [options] { return RunStatus(*options); }};
}

Subcommand AddLost(CLI::App& root) {
  auto options = std::make_shared<LostOptions>();
  CLI::App* app = root.add_subcommand("lost", "messages that were deleted before they were read");
  app->add_option("--http", options->http, "the daemon's address")->capture_default_str();
  app->add_flag("--acknowledge", options->acknowledge,
                "they are known: take them out of the status and the alert");
  app->add_flag("--json", options->json, "answer as JSON");
  return {app, [options] { return RunLost(*options); }};
}

}  // namespace seen
