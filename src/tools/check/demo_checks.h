#pragma once
// The output and the checks at the end of the demo.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/ask/daemon_client.h"
#include "tools/check/oracle.h"
#include "tools/check/snapshot_topic.h"

namespace seen {

/// Candidates for one user: items that were sent and items that weren't, mixed.
struct DemoCandidates {
  std::vector<std::string> items;  // as a ranker would order them
  std::vector<bool> sent;          // by place in `items`
  std::vector<std::string> Unsent() const;
};

/// `count` candidates, half of them sent (fewer if the user has seen fewer); the same for the same oracle.
DemoCandidates ChooseCandidates(const Oracle& oracle, std::string_view user_id, size_t count, TimeMs now);

struct CandidateVerdict {
  std::vector<std::string> offered;          // candidates that pass, in order
  std::vector<std::string> false_negatives;  // offered although sent
  std::vector<std::string> false_positives;  // held back although not sent
};
CandidateVerdict Judge(const DemoCandidates& candidates, const std::vector<bool>& passes);

/// Asks about the busiest user over HTTP and by snapshot, and prints both results. False: a check failed.
/// Errors: no answer.
Result<bool> ShowBusiestUser(const Oracle& oracle, DaemonClient& daemon, const std::string& filter,
                             const SnapshotTopic& published);

/// Checks `count` other users as verify does, and prints one line. False: a check failed.
Result<bool> CheckOtherUsers(const Oracle& oracle, DaemonClient daemon, const std::string& filter,
                             const SnapshotTopic& published, size_t count);

}  // namespace seen
