#pragma once
// Reads verify's topics into buckets.

#include <cstdint>

#include "base/result.h"
#include "tools/ask/daemon_client.h"
#include "tools/check/event_judge.h"
#include "tools/check/user_buckets.h"
#include "tools/check/user_sample.h"
#include "tools/check/verify_plan.h"
#include "tools/progress.h"

namespace seen {

struct VerifyInput {
  UserBuckets& buckets;
  UserSample& sample;
  EventJudge& judge;
  Progress::Mode progress = Progress::Mode::kAuto;
};

struct VerifiedTopic {
  bool from_the_start = true;  // false: retention has deleted its beginning
  TimeMs snapshots_at;         // when the snapshot topics were read
};

/// Reads the input, waits until the daemon has it, and reads the published snapshots. kUnavailable: the
/// brokers or the daemon give no answer, or the run was interrupted. kInvalidArgument: the daemon reads
/// another topic. kNoSpace.
Result<VerifiedTopic> ReadVerifyInput(const VerifyOptions& options, const VerifyPlan& plan,
                                      DaemonClient& daemon, VerifyInput& input);

}  // namespace seen
