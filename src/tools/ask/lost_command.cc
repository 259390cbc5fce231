// seenctl lost: messages that retention deleted before the daemon read them.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/ask/calendar.h"
#include "tools/ask/daemon_client.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

struct LostOptions {
  DaemonAddress http;
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
    fmt::print("no lost messages to acknowledge in this daemon's partitions\n");
    return kExitOk;
  }
  if (options.acknowledge) {
    fmt::print("acknowledged; durable with the next checkpoint\n");
    return kExitOk;
  }
  fmt::print(
      "these exposures are in no filter. Replay them from their source, then: seenctl lost --acknowledge\n");
  return kExitFailed;
}

}  // namespace

Subcommand AddLost(CLI::App& root) {
  auto options = std::make_shared<LostOptions>();
  CLI::App* app = root.add_subcommand("lost", "messages that retention deleted before the daemon read them");
  AddDaemonOptions(*app, options->http);
  app->add_flag("--acknowledge", options->acknowledge, "take these messages out of the status and the alert");
  app->add_flag("--json", options->json, "answer as JSON");
  return {app, [options] { return RunLost(*options); }};
}

}  // namespace seen
