#pragma once
// What verify checks: from the daemon's configuration, or from rules on the command line.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/check/event_judge.h"
#include "tools/common_options.h"

namespace CLI {
class App;
}

namespace seen {

struct VerifyOptions {
  KafkaOptions kafka;
  AskOptions daemon;
  std::string config;  // empty: the rules below
  FilterRules rules;
  int32_t future_skew_s_max = 300;
  uint64_t event_bytes_max = 1'048'576;
  std::string snapshot_topic = "seen-filters";
  std::string scratch;
  uint64_t memory_mib = 1024;
  uint64_t sample = 0;
  uint64_t seed = 1;
  uint32_t negatives = 64;
  unsigned connections = 4;
  double timeout_s = 120;
  bool snapshots = false;
  bool json = false;
  bool quiet = false;
};

/// Adds verify's options to `app`.
void AddVerifyOptions(CLI::App& app, VerifyOptions& options);

struct VerifyPlan {
  std::string brokers;
  ClientSettings client;
  std::string topic;            // the oracle's topic: the daemon's input, or its source
  OracleRules rules;            // of all filters; an event names its filters by their places here
  std::vector<size_t> filters;  // filters to check, by their places in the rules
};

/// kInvalidArgument: options that can't be combined, a filter that the configuration doesn't have, or all
/// mistakes of the configuration.
Result<VerifyPlan> PlanOf(const VerifyOptions& options, const CLI::App& app);

}  // namespace seen
