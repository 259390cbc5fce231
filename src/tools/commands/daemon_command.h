#pragma once
// A command that asks a daemon, as a row of the table in daemon_commands.cc. It sends one request, may wait
// until the daemon has done what it asked, and prints the answer. --json prints the daemon's answer as it is.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/ask/daemon_client.h"
#include "tools/check/similar_pair.h"
#include "tools/commands.h"
#include "tools/common_options.h"

namespace seen {

/// What the command line gave. Each command reads its own part.
struct AskArguments {
  DaemonAddress http;
  std::string filter = "default";
  std::string user, item, after, created_at, file, save, title, text, lang, fill_id;
  std::vector<std::string> items, also_seen, test_ids;
  size_t limit = 10;
  double watch_s = 0;
  int64_t timeout_s = 0;
  bool json = false, yes = false, no_wait = false, one_per_group = false, from_topic = false;
  bool lost = false, acknowledge = false, all = false, fill_status = false, fill_stop = false, quiet = false;
  KafkaOptions kafka;
  PairQuestion pair;
};

/// By partition: `next_offset` when its sweep had ended. -1: all its users were published.
using SweepEnds = std::map<int32_t, int64_t>;

/// What a command waits for after its request, for at most --timeout.
struct DaemonWait {
  bool (*is_over)(const DaemonSummary& now, SweepEnds& ends);
  std::string (*result)(const DaemonSummary& before, const DaemonSummary& now);
  const char* not_over;  // the error after --timeout
};

struct DaemonCommand {
  const char* heading;  // of the help
  const char* name;     // "config reload": reload, below the command config
  const char* help;
  const char* method;
  /// {filter} adds --filter to the command, {user} and {item} add arguments. {of_user}: given by an option.
  const char* path;
  std::string (*text)(const SortedJson&) =
      nullptr;  // the answer as it is printed; throws nlohmann::json::exception
  /// Instead of `text`. Returns an exit status.
  int (*print)(const AskArguments&, const std::string& body, DaemonClient&) = nullptr;
  void (*arguments)(CLI::App&, AskArguments&) = nullptr;
  Result<SortedJson> (*question)(const AskArguments&) = nullptr;  // the body; kInvalidArgument
  std::optional<int> (*instead)(const AskArguments&) = nullptr;   // an exit status if no request is needed
  const DaemonWait* wait = nullptr;
  const char* pages = nullptr;  // this list of the answer comes in pages; all of them are one answer here
  bool prints_json = false;     // `print` does, with --json, instead of the daemon's answer
};

/// `command` must outlive the program's run.
Subcommand AddDaemonCommand(CLI::App& root, const DaemonCommand& command);

/// Instead of one request: asks all daemons for a fill, and prints what happens.
std::optional<int> RunFill(const AskArguments& given);

}  // namespace seen
