// The commands that keep and move state. Each is a pair of a source and a sink:
//
//   command   source                            sink
//   backup    a running daemon                  a backup       files: backup_commands.cc
//   restore   a backup                          a directory    files: backup_commands.cc
//   digest    a daemon, directory, backup,      a digest       digest_command.cc
//             the state topic, history
//   export    a directory, backup, state topic  JSON lines
//   reshard   several directories and backups   the state topic, through the router
//   replay    history                           a directory (--into-state), the state topic

#include "tools/state/state_commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "kafka/admin.h"
#include "tools/commands.h"
#include "tools/progress.h"
#include "tools/reach_brokers.h"
#include "tools/state/resharded.h"
#include "tools/state/state_rows.h"

namespace seen {
namespace {

constexpr std::chrono::milliseconds kAsk{10'000};

Status Export(const StateArguments& given) {
  if (!given.is_stored())
    return Fail(Code::kInvalidArgument, "export: give --dir, --from or --from-state-topic");
  if (Status one = CheckStored(given); !one) return one;
  CatchInterrupts();
  const auto state = OpenStored(given, "export");
  if (!state) return Fail(state.error());
  return CopyState(**state, *IntoLines(given.filter, given.out));
}

int RunExport(const StateArguments& given) {
  const Status exported = Export(given);
  return exported ? kExitOk : ExitWith(exported.error());
}

Result<int32_t> PartitionCountOf(const std::string& brokers, const ClientSettings& client,
                                 const std::string& topic) {
  if (Status reached = ReachBrokers("--brokers", brokers, client); !reached) return Fail(reached.error());
  const auto admin = Admin::Open(brokers, client);
  if (!admin) return Fail(admin.error());
  return (*admin)->PartitionCount(topic, kAsk);
}

Status CheckInputTopic(const StateArguments& given, const ClientSettings& client) {
  const auto count = PartitionCountOf(given.kafka.brokers, client, given.kafka.topic);
  if (!count) return Fail(count.error());
  if (*count != given.partitions) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--partitions: {}, but topic {} has {}. Remedy: give the topic's number",
                            given.partitions, given.kafka.topic, *count));
  }
  return {};
}

Result<std::unique_ptr<ReshardedState>> Reshard(const StateArguments& given) {
  const auto client = given.kafka.Settings();
  if (!client) return Fail(client.error());
  std::vector<std::unique_ptr<StoredState>> stored;
  const auto add = [&](Result<std::unique_ptr<StoredState>> state) -> Status {
    if (!state) return Fail(state.error());
    stored.push_back(std::move(*state));
    return {};
  };
  for (const std::string& directory : given.directories) {
    if (Status added = add(StoredState::OfDirectory(directory)); !added) return Fail(added.error());
  }
  for (const std::string& backups : given.backups) {
    if (Status added = add(StoredState::OfBackup(backups, {})); !added) return Fail(added.error());
  }
  auto state = ReshardedState::Make(std::move(stored), given.kafka.topic, given.partitions, given.quiet);
  if (!state) return Fail(state.error());
  if (Status fits = CheckInputTopic(given, *client); !fits) return Fail(fits.error());
  const auto sink = IntoTopic({.option = "--state-topic",
                               .command = "seenctl reshard",
                               .brokers = given.kafka.brokers,
                               .client = *client,
                               .topic = given.state_topic,
                               .group = given.group,
                               .remedy = "delete the topic, or ",
                               .again = "run this command again with another state topic",
                               .scratch = {},
                               .quiet = given.quiet});
  if (Status copied = CopyState(**state, *sink); !copied) return Fail(copied.error());
  return state;
}

int RunReshard(const StateArguments& given) {
  if (!given.is_stored())
    return ExitWith({Code::kInvalidArgument, "reshard: give the old state, with --dir or --from"});
  CatchInterrupts();
  const auto state = Reshard(given);
  if (!state) return ExitWith(state.error());
  const uint64_t rows = (*state)->rows();
  const uint64_t rows_to_all = (*state)->rows_to_all();
  if (given.json) {
    const nlohmann::ordered_json json = {
        {"partitions", given.partitions}, {"rows", rows}, {"rows_to_all", rows_to_all}};
    fmt::print("{}\n", JsonText(json));
    return kExitOk;
  }
  fmt::print(
      "{} has a base for each of {} partitions: {} rows, and {} of users whose id is gone in all of them. "
      "Start the daemons of group {} with input.topic {} and state.topic {}\n",
      given.state_topic, given.partitions, WithThousands(rows), WithThousands(rows_to_all), given.group,
      given.kafka.topic, given.state_topic);
  return kExitOk;
}

// --- arguments

void AddTimeout(CLI::App& app, StateArguments& given, int64_t seconds, const char* help) {
  given.timeout_s = seconds;
  app.add_option("--timeout", given.timeout_s, help)->check(CLI::Range(1, 86'400))->capture_default_str();
}

void AddStored(CLI::App& app, StateArguments& given) {
  app.add_option("--dir", given.directories, "a stopped daemon's store.directory")->expected(1);
  app.add_option("--from", given.backups, "a directory of backups")->expected(1);
  app.add_option("--backup", given.backup, "with --from: the backup's number; default: the newest");
  app.add_flag("--from-state-topic", given.from_state_topic,
               "what daemons with empty disks would restore from the state topic; needs --config");
  app.add_option("--config", given.config,
                 "with --from-state-topic or a history: the daemon's configuration");
  given.kafka.brokers.clear();  // those of the configuration
  app.add_option("--brokers", given.kafka.brokers,
                 "with --config: brokers other than the configuration's: HOST:PORT,...")
      ->check(BrokersProblem);
  app.add_option(
      "--scratch", given.scratch,
      "with --from-state-topic or a history: a directory for temporary files; default: the system's");
}

void AddBackupArguments(CLI::App& app, StateArguments& given) {
  AddDaemonOptions(app, given.http);
  app.add_option("--to", given.to, "the directory of the backups; created if missing")->required();
  app.add_flag("--list", given.list, "list the existing backups, and make none");
  app.add_option("--keep", given.keep, "afterwards keep only so many backups, the newest ones")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--copy", given.copy, "copy files instead of linking them");
  app.add_flag("--no-verify", given.no_verify, "don't read the backup back");
  AddTimeout(app, given, 3'600, "seconds to wait for the daemon's digests at most");
}

void AddRestoreArguments(CLI::App& app, StateArguments& given) {
  app.add_option("--from", given.backups, "the directory of backups")->expected(1)->required();
  app.add_option("--backup", given.backup, "the backup's number; default: the newest");
  app.add_option("--into", given.into, "the store.directory: empty, or a new one")->required();
  app.add_flag("--copy", given.copy, "copy files instead of linking them");
}

void AddDigestArguments(CLI::App& app, StateArguments& given) {
  AddDaemonOptions(app, given.http);
  AddStored(app, given);
  app.add_option("--history", given.history.files,
                 "files of events, instead of a daemon: as replay takes them; needs --config");
  AddHistoryOptions(app, given.history);
  app.add_option(
         "--partitions", given.partitions,
         "of a history: the input topic's number of partitions; with this option, digest asks no broker")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--rejects-max", given.rejects_max,
                 "of a history: stop when more than this share of the lines are no events")
      ->capture_default_str();
  app.add_option("--memory-mib", given.memory_mib,
                 "of a history: memory; what doesn't fit is sorted in files")
      ->check(CLI::Range(64, 1 << 20))
      ->capture_default_str();
  app.add_option("--as-of", given.as_of, "leave out what has left its window by then; default: now");
  app.add_option("--expect", given.expect, "compare with this file, which digest --json wrote");
  app.add_flag("--wait", given.wait, "first wait until the daemon's checkpoints hold all of its input");
  AddTimeout(app, given, 600, "seconds to wait for a daemon at most");
}

void AddExportArguments(CLI::App& app, StateArguments& given) {
  AddStored(app, given);
  app.add_option("--filter", given.filter, "only this filter; default: all filters");
  app.add_option("--out", given.out, "write to this file; default: standard output");
}

void AddReshardArguments(CLI::App& app, StateArguments& given) {
  app.add_option("--dir", given.directories, "a stopped daemon's store.directory; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--from", given.backups, "a directory of backups: its newest; may be repeated")
      ->allow_extra_args(false);
  AddKafkaOptions(app, given.kafka);
  app.get_option("--topic")->description("the new input topic")->required();
  app.add_option("--partitions", given.partitions, "the new input topic's number of partitions")
      ->required()
      ->check(CLI::Range(1, 4'096));
  app.add_option("--state-topic", given.state_topic, "the new daemons' state.topic; created if missing")
      ->required();
  app.add_option("--group", given.group, "the new daemons' kafka.group_id")->required();
}

// --- the table

constexpr const char* kCheck = "Check";
constexpr const char* kKeep = "Keep and move state";

struct StateCommand {
  const char* heading;  // of the help
  const char* name;
  const char* help;
  void (*arguments)(CLI::App&, StateArguments&);
  int (*run)(const StateArguments&);  // returns an exit status
  bool prints_lines = false;          // so it has no --json
};

constexpr StateCommand kCommands[] = {
    {kCheck, "digest", "print digests of a state: equal sets have equal digests", AddDigestArguments,
     RunDigest},
    {kKeep, "backup", "back up a running daemon's state, on its machine", AddBackupArguments, RunBackup},
    {kKeep, "restore", "put a backup into an empty directory, for a daemon to start on", AddRestoreArguments,
     RunRestore},
    {kKeep, "export", "what is stored of every user, as JSON lines", AddExportArguments, RunExport, true},
    {kKeep, "reshard", "write the state for a topic with another number of partitions", AddReshardArguments,
     RunReshard},
};

}  // namespace

Status CheckStored(const StateArguments& given) {
  const int sources =
      int{!given.directories.empty()} + int{!given.backups.empty()} + int{given.from_state_topic};
  if (sources > 1) {
    return Fail(Code::kInvalidArgument,
                "--dir, --from, --from-state-topic: several are given; leave all but one of them out");
  }
  if (given.from_state_topic && given.config.empty())
    return Fail(Code::kInvalidArgument, "--from-state-topic: give the daemon's configuration by --config");
  if (given.backup && given.backups.empty())
    return Fail(Code::kInvalidArgument, "--backup: give --from, the directory of backups");
  return {};
}

namespace {

Result<std::unique_ptr<StoredState>> OpenStateTopic(const StateArguments& given) {
  const auto config = ReadConfig(given.config, given.kafka.brokers);
  if (!config) return Fail(config.error());
  if (!config->state)
    return Fail(Code::kInvalidArgument,
                fmt::format("--from-state-topic: {}: state.topic is null", given.config));
  const StateTopicOptions topic{.brokers = config->kafka.brokers,
                                .client = config->kafka.client,
                                .topic = config->state->topic,
                                .group = config->replica_of.value_or(config->kafka.group_id)};
  const auto count = PartitionCountOf(topic.brokers, topic.client, topic.topic);
  if (!count) return Fail(count.error());
  return StoredState::OfTopic(
      topic, {config->input.topic, 0, *count, std::string(PartitionerName(config->input.partitioner))},
      given.scratch);
}

}  // namespace

Result<std::unique_ptr<StoredState>> OpenStored(const StateArguments& given, const std::string& task) {
  auto state = given.from_state_topic  ? OpenStateTopic(given)
               : given.backups.empty() ? StoredState::OfDirectory(given.directories.front())
                                       : StoredState::OfBackup(given.backups.front(), given.backup);
  if (state && !given.quiet) (*state)->ShowProgress(task);
  return state;
}

std::vector<Subcommand> AddStateCommands(CLI::App& root) {
  std::vector<Subcommand> added;
  for (const StateCommand& command : kCommands) {
    auto given = std::make_shared<StateArguments>();
    CLI::App* app = root.add_subcommand(command.name, command.help)->group(command.heading);
    command.arguments(*app, *given);
    if (!command.prints_lines) app->add_flag("--json", given->json, "answer as JSON");
    app->add_flag("--quiet", given->quiet, "no progress");
    added.push_back({app, [given, &command] { return command.run(*given); }});
  }
  return added;
}

}  // namespace seen
