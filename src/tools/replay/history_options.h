#pragma once
// The options that say which history is read: files, or ranges of topics.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/replay/history_source.h"
#include "tools/replay/manifest.h"
#include "tools/replay/replay_config.h"

namespace CLI {
class App;
}

namespace seen {

struct HistoryOptions {
  std::vector<std::string> files;
  std::vector<std::string> from_topics;
  std::string from_brokers;
  std::vector<std::string> from_client;
  std::string from_offsets;
  std::string to_offsets;
  std::string since;
  std::string until;
  std::string order = "name";

  bool empty() const { return files.empty() && from_topics.empty(); }
};

/// All but the files, which each command names its own way.
void AddHistoryOptions(CLI::App& app, HistoryOptions& options);

/// kInvalidArgument: options that don't go together. `what`: how the files are given, for the message.
Status CheckHistoryOptions(const HistoryOptions& options, std::string_view what);

struct HistoryTimes {
  std::optional<TimeMs> since, until;
};
Result<HistoryTimes> HistoryTimesOf(const HistoryOptions& options);
/// Of topics the times are the records', and the source looks at them.
HistoryTimes TimesOfExposures(const HistoryOptions& options, const HistoryTimes& times);

/// `target`: its format, and where topics are read if nothing else is said. `replayed_into`: a topic that
/// can't be its own source; empty: any may be read. `reaches_target`: its brokers must answer before much is
/// read. kUnavailable: some brokers don't.
Result<std::unique_ptr<HistorySource>> OpenHistory(const HistoryOptions& options, const ReplayTarget& target,
                                                   std::string_view replayed_into, const HistoryTimes& times,
                                                   const Manifest& manifest, bool reaches_target = false);

/// Names on standard error the files that are damaged, or grew since the start. Whether any is damaged.
bool ReportFiles(const Manifest& manifest, bool quiet);

}  // namespace seen
