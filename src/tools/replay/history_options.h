#pragma once
// Options that select the history to read: files, or ranges of topics.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/replay/history_source.h"
#include "tools/replay/manifest.h"
#include "tools/replay/target_topic.h"

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
  bool may_be_compacted = false;
  bool keeps_progress = false;  // set by the command: standard input must say its files and rows

  bool empty() const { return files.empty() && from_topics.empty(); }
};

/// Adds all options except the files, which each command names in its own way.
void AddHistoryOptions(CLI::App& app, HistoryOptions& options);

/// kInvalidArgument: options that can't be combined. `what`: how the command takes files, for the message.
Status CheckHistoryOptions(const HistoryOptions& options, std::string_view what);

Result<HistoryTimes> HistoryTimesOf(const HistoryOptions& options);
/// The limits of exposed_at. None for topics: their limits are record timestamps, which the source checks.
HistoryTimes TimesOfExposures(const HistoryOptions& options, const HistoryTimes& times);

/// `target`: gives the event format, and the brokers of the topics unless the options name others.
/// `replayed_into`: a topic that must not be its own source; empty: any topic may be read. `reaches_target`:
/// the target's brokers must answer before much is read. kUnavailable: some brokers don't answer. Files hold
/// JSON: then `target` gets that format.
Result<std::unique_ptr<HistorySource>> OpenHistory(const HistoryOptions& options, ReplayTarget& target,
                                                   std::string_view replayed_into, const HistoryTimes& times,
                                                   const Manifest& manifest, bool reaches_target = false);

/// Names the damaged and the grown files on standard error. Returns whether any file is damaged.
bool ReportFiles(const Manifest& manifest, bool quiet);

}  // namespace seen
