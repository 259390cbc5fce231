#pragma once
// Checks the users of one bucket after the other, by all filters, over several connections at once.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "tools/ask/daemon_client.h"
#include "tools/check/oracle.h"
#include "tools/check/user_check.h"
#include "tools/check/verify_input.h"
#include "tools/progress.h"

namespace seen {

/// One thread. Starts threads of its own.
class BucketChecker {
 public:
  /// The references must outlive this object. kInvalidArgument: the daemon's address.
  static Result<std::unique_ptr<BucketChecker>> Make(const VerifyOptions& options, const VerifyPlan& plan,
                                                     const UserSample& sample, const VerifiedTopic& read);

  /// Adds to outcomes(). kUnavailable: the daemon gives no answer, or the run was interrupted.
  Status Check(std::string_view records);
  /// In the order of the plan's filters.
  const std::vector<CheckOutcome>& outcomes() const { return outcomes_; }
  uint64_t users() const { return users_; }

 private:
  using Published = std::vector<std::unordered_map<std::string, std::string>>;  // by the filter's place
  BucketChecker(const VerifyOptions& options, const VerifyPlan& plan, const UserSample& sample,
                const VerifiedTopic& read, std::vector<DaemonClient> daemons);
  std::vector<UserChecker> CheckersOf(const Oracle& oracle, DaemonClient& daemon) const;
  Status Load(std::string_view records, Oracle& oracle, Published& published) const;
  Status CheckUsers(const Oracle& oracle, const Published& published);

  const VerifyOptions& options_;
  const VerifyPlan& plan_;
  const UserSample& sample_;
  const VerifiedTopic& read_;
  std::vector<DaemonClient> daemons_;  // one per thread
  std::vector<CheckOutcome> outcomes_;
  uint64_t users_ = 0;
  Progress progress_;
};

}  // namespace seen
