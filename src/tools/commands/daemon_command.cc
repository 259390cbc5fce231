#include "tools/commands/daemon_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"

namespace seen {
namespace {

std::string TargetOf(const DaemonCommand& command, const AskArguments& given) {
  const std::string user = PercentEncode(given.user);
  return fmt::format(fmt::runtime(command.path), fmt::arg("filter", PercentEncode(given.filter)),
                     fmt::arg("user", user), fmt::arg("of_user", user),
                     fmt::arg("item", PercentEncode(given.item)));
}

/// `target`: with a limit. The pages behind `first` are added to it, as in an answer without a limit.
Result<HttpAnswer> AskForAllPages(const DaemonCommand& command, const std::string& target, HttpAnswer first,
                                  DaemonClient& daemon) {
  OrderedJson whole = OrderedJson::parse(first.body);
  while (!whole.at("next").is_null()) {
    const std::string cursor = PercentEncode(whole.at("next").get<std::string>());
    const auto answer = daemon.Ask(command.method, fmt::format("{}&cursor={}", target, cursor));
    if (!answer) return Fail(answer.error());
    OrderedJson page = OrderedJson::parse(answer->body);
    for (OrderedJson& one : page.at(command.pages)) whole.at(command.pages).push_back(std::move(one));
    whole["next"] = page.at("next");
  }
  whole.erase("next");
  first.body = JsonText(whole, 2) + "\n";
  return first;
}

/// Sends the request and prints the answer. `watches`: no answer is a screen, too, because an operator who
/// watches a restart must see the daemon come back.
int AskAndPrint(const DaemonCommand& command, const AskArguments& given, DaemonClient& daemon, bool watches) {
  const std::string target = TargetOf(command, given);
  Result<HttpAnswer> answer;
  if (command.question != nullptr) {
    const auto question = command.question(given);
    if (!question) return ExitWith(question.error());
    answer = daemon.Ask(command.method, target, *question);
  } else {
    answer = daemon.Ask(command.method, target);
  }
  if (!answer && !watches) return ExitWith(answer.error());
  if (watches && isatty(STDOUT_FILENO) != 0) fmt::print("\x1b[H\x1b[2J");
  if (!answer) {
    fmt::print("{}  {}\n{}\n", Painted(Paint::kBad, "NO ANSWER", stdout), given.http.base,
               answer.error().message);
    std::fflush(stdout);
    return kExitFailed;
  }
  try {
    if (command.pages != nullptr) {
      answer = AskForAllPages(command, target, std::move(*answer), daemon);
      if (!answer) return ExitWith(answer.error());
    }
    if (command.print != nullptr && (!given.json || command.prints_json))
      return command.print(given, answer->body, daemon);
    if (!given.json) {
      if (command.text != nullptr) fmt::print("{}", command.text(SortedJson::parse(answer->body)));
      return kExitOk;
    }
  } catch (const nlohmann::json::exception& error) {
    return ExitWith({Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what())});
  }
  fmt::print("{}{}", answer->body, answer->body.ends_with('\n') ? "" : "\n");
  return kExitOk;
}

int Watch(const DaemonCommand& command, const AskArguments& given, DaemonClient& daemon) {
  CatchInterrupts();
  for (;;) {
    const int status = AskAndPrint(command, given, daemon, true);
    const Instant until = SystemClock().Now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                    std::chrono::duration<double>(given.watch_s));
    while (!Interrupted() && SystemClock().Now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (Interrupted()) return status;
    if (isatty(STDOUT_FILENO) == 0) fmt::print("\n");
  }
}

int AskAndWait(const DaemonCommand& command, const AskArguments& given, DaemonClient& daemon) {
  const DaemonWait& wait = *command.wait;
  const auto before = daemon.Status();
  if (!before) return ExitWith(before.error());
  const int status = AskAndPrint(command, given, daemon, false);
  if (status != kExitOk || given.no_wait) return status;
  std::fflush(stdout);
  CatchInterrupts();
  SweepEnds ends;
  const Instant until = SystemClock().Now() + std::chrono::seconds(given.timeout_s);
  while (!Interrupted() && SystemClock().Now() < until) {
    const auto now = daemon.Status();
    if (!now) return ExitWith(now.error());
    if (wait.is_over(*now, ends)) {
      if (!given.json) fmt::print("{}\n", wait.result(*before, *now));
      return kExitOk;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return ExitWith({Code::kUnavailable, wait.not_over});
}

int RunCommand(const DaemonCommand& command, const AskArguments& given) {
  if (command.instead != nullptr) {
    if (const auto status = command.instead(given)) return *status;
  }
  auto daemon = DaemonClient::Make(given.http);
  if (!daemon) return ExitWith(daemon.error());
  if (command.wait != nullptr) return AskAndWait(command, given, *daemon);
  return given.watch_s > 0 ? Watch(command, given, *daemon) : AskAndPrint(command, given, *daemon, false);
}

}  // namespace

Subcommand AddDaemonCommand(CLI::App& root, const DaemonCommand& command) {
  auto given = std::make_shared<AskArguments>();
  const std::string name = command.name;
  const size_t space = name.find(' ');
  CLI::App& parent = space == name.npos ? root : *root.get_subcommand(name.substr(0, space));
  CLI::App* app = parent.add_subcommand(name.substr(space + 1), command.help);
  if (&parent == &root) app->group(command.heading);
  const std::string_view path = command.path;
  AddDaemonOptions(*app, given->http);
  if (path.find("{filter}") != path.npos)
    app->add_option("--filter", given->filter, "the filter's name")->capture_default_str();
  if (path.find("{user}") != path.npos) app->add_option("user", given->user, "user id")->required();
  if (path.find("{item}") != path.npos) app->add_option("item", given->item, "item id")->required();
  if (command.arguments != nullptr) command.arguments(*app, *given);
  app->add_flag("--json", given->json, "answer as JSON");
  return {app, [given, &command] { return RunCommand(command, *given); }};
}

}  // namespace seen
