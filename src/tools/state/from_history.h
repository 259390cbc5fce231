#pragma once
// replay --into-state and --into-state-topic: turns history into the state of daemons that aren't running,
// without the input topic.

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "bulk_load/state_builder.h"
#include "tools/replay/history_source.h"
#include "tools/replay/rejects.h"
#include "tools/replay/target_topic.h"
#include "tools/state/state_rows.h"

namespace seen {

struct IntoStateSettings {
  uint64_t memory_bytes = 0;
  unsigned threads = 1;
  std::optional<int32_t> partitions;  // nullopt: as many as the input topic
  std::string live_from;              // earliest, end, or a time; empty: no daemon goes on from this state,
                                      // so no broker is asked if `partitions` is given
  bool whole = false;                 // there is no older history: filters are complete
  std::optional<TimeMs> since, until;
  bool quiet = false;
};

struct IntoStateReport {
  BuildCounts counts;
  int32_t partitions = 0;
  uint64_t state_bytes = 0;   // as stored: in the directory, or sent to the topic
  uint64_t sorted_bytes = 0;  // of the intermediate files
  std::map<int32_t, int64_t> live_offsets;
  double read_s = 0;   // reading, decoding and sorting
  double write_s = 0;  // writing the state
};

/// kMalformed: too many lines are rejected. kRefused: the sink has state, or is in use. kNoSpace; ...
Result<IntoStateReport> IntoState(const IntoStateSettings& settings, const ReplayTarget& target,
                                  CopySink& sink, HistorySource& source, Rejects& rejects);

/// As text for people, and as JSON for programs.
std::string IntoStateText(const IntoStateReport& report, uint64_t rejected);
std::string IntoStateJson(const IntoStateReport& report, uint64_t rejected);

}  // namespace seen
