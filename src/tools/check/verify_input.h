#pragma once
// What verify checks, from the daemon's configuration or from rules on the command line; and the reading of
// its topics into buckets.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "model/hashes.h"
#include "tools/ask/daemon_client.h"
#include "tools/check/event_judge.h"
#include "tools/check/user_buckets.h"
#include "tools/common_options.h"
#include "tools/reach_brokers.h"

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

struct VerifyInput {
  UserBuckets& buckets;
  UserSample& sample;
  EventJudge& judge;
};

struct VerifiedTopic {
  bool from_the_start = true;    // false: retention has deleted its beginning
  TimeMs snapshots_at;           // when the snapshot topics were read
  std::vector<WholeTopic> rest;  // what comes after the ends up to which the topics were read
};

/// Users with events after those that verify read: the daemon may know these events, and the oracle doesn't.
/// One thread. Memory: some 50 bytes a user.
class LaterUsers {
 public:
  /// `rules` must outlive this object.
  LaterUsers(const OracleRules& rules, std::vector<WholeTopic> rest)
      : judge_(rules), rest_(std::move(rest)) {}

  /// Reads on, up to the present ends. Errors: as ReadWholeTopic.
  Status ReadOn();
  bool Has(std::string_view user_id) const { return users_.contains(UserKeyOf(user_id)); }

 private:
  EventJudge judge_;
  std::vector<WholeTopic> rest_;
  std::unordered_set<UserKey, UserKeyHash> users_;
};

/// Reads the input, waits until the daemon has it, and reads the published snapshots. kUnavailable: the
/// brokers or the daemon give no answer, or the run was interrupted. kInvalidArgument: the daemon reads
/// another topic. kNoSpace.
Result<VerifiedTopic> ReadVerifyInput(const VerifyOptions& options, const VerifyPlan& plan,
                                      DaemonClient& daemon, const VerifyInput& input);

}  // namespace seen
