#pragma once
// The commands that keep and move state, as rows of the table in state_commands.cc.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "tools/ask/daemon_client.h"
#include "tools/common_options.h"
#include "tools/replay/history_options.h"
#include "tools/state/stored_state.h"

namespace seen {

/// What the command line gave. Each command reads its own part.
struct StateArguments {
  DaemonAddress http;
  std::vector<std::string> directories, backups;  // at most one each, except for reshard
  std::optional<uint32_t> backup;                 // nullopt: the newest
  HistoryOptions history;
  KafkaOptions kafka;
  std::string config;
  std::string to, into, out, filter, state_topic, group;
  std::string rejects_max = "1%";
  std::string scratch, as_of, expect;
  uint64_t memory_mib = 1024;
  int32_t partitions = 0;  // 0: as many as the input topic
  uint32_t keep = 0;       // 0: all
  int64_t timeout_s = 0;
  bool from_state_topic = false;
  bool list = false, copy = false, no_verify = false, wait = false, json = false, quiet = false;

  bool is_stored() const { return !directories.empty() || !backups.empty() || from_state_topic; }
};

/// kInvalidArgument: more than one of --dir, --from and --from-state-topic, or one lacks its other options.
Status CheckStored(const StateArguments& given);
/// The stored state that is named, with its progress shown as `task`. Call it if is_stored().
Result<std::unique_ptr<StoredState>> OpenStored(const StateArguments& given, const std::string& task);

// Each returns an exit status.
int RunBackup(const StateArguments& given);
int RunRestore(const StateArguments& given);
int RunDigest(const StateArguments& given);

}  // namespace seen
