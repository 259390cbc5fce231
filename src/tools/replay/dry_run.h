#pragma once
// A replay that sends nothing, but reads and decodes the whole history, and reports what a real run would do.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "tools/replay/history_source.h"
#include "tools/replay/rejects.h"
#include "tools/replay/state_sample.h"
#include "tools/replay/target_topic.h"

namespace seen {

struct DryRunReport {
  LineCounts lines;    // `sent`: would be sent
  uint64_t items = 0;  // shown, with repetitions
  DistinctCount users;
  DistinctCount distinct_items;
  std::map<int32_t, uint64_t> events_by_day;
  std::map<std::string, uint64_t> events_beyond_window;  // by filter
  uint64_t state_bytes = 0;                              // estimated
  uint64_t users_sampled = 0;
  uint64_t bytes_not_read = 0;  // added to files meanwhile
  std::vector<std::string> damaged;
  double read_s = 0;  // time for reading and decoding
  bool whole = true;  // false: interrupted
};

struct DryRunSettings {
  EntryJudge::Rules rules;
  bool quiet = false;
};

Result<DryRunReport> DryRun(const DryRunSettings& settings, HistorySource& source, Rejects& rejects);

/// The least duration of a real run in seconds: by reading and decoding, or by the rate.
double RunSeconds(const DryRunReport& report, double rate);

std::string DryRunText(const DryRunReport& report, const Rejects& rejects, const TargetTopic* target,
                       const std::vector<TargetProblem>& problems, double rate);
std::string DryRunJson(const DryRunReport& report, const Rejects& rejects, const TargetTopic* target,
                       const std::vector<TargetProblem>& problems, double rate);

}  // namespace seen
