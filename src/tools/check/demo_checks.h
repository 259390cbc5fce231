#pragma once
// What the demo shows and checks at its end.

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
  std::vector<std::string> items;  // in the order of preference a ranker would give
  std::vector<bool> sent;          // beside `items`
  std::vector<std::string> Unsent() const;
};

/// `count` of them, half sent (fewer where the user has seen fewer), the same each time for the same oracle.
DemoCandidates ChooseCandidates(const Oracle& oracle, std::string_view user_id, size_t count, TimeMs now);

struct CandidateVerdict {
  std::vector<std::string> offered;          // what passes, in order
  std::vector<std::string> false_negatives;  // offered although sent
  std::vector<std::string> false_positives;  // held back although not sent
};
CandidateVerdict Judge(const DemoCandidates& candidates, const std::vector<bool>& passes);

/// Prints both ways for the busiest user and what they prove; false: a check failed. Errors: no answer.
Result<bool> ShowBusiestUser(const Oracle& oracle, DaemonClient& daemon, const std::string& filter,
                             const SnapshotTopic& published);

/// The same user checks as verify's, over `count` other users; prints one line. False: a check failed.
Result<bool> CheckOtherUsers(const Oracle& oracle, DaemonClient daemon, const std::string& filter,
                             const SnapshotTopic& published, size_t count);

}  // namespace seen
