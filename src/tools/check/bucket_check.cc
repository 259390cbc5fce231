#include "tools/check/bucket_check.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/mutex.h"
#include "tools/common_options.h"

namespace seen {

BucketChecker::BucketChecker(const VerifyOptions& options, const VerifyPlan& plan, const UserSample& sample,
                             const VerifiedTopic& read, std::vector<DaemonClient> daemons)
    : options_(options),
      plan_(plan),
      sample_(sample),
      read_(read),
      daemons_(std::move(daemons)),
      outcomes_(plan.filters.size()),
      progress_("check", 0, "users", options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto) {}

Result<std::unique_ptr<BucketChecker>> BucketChecker::Make(const VerifyOptions& options,
                                                           const VerifyPlan& plan, const UserSample& sample,
                                                           const VerifiedTopic& read) {
  std::vector<DaemonClient> daemons;
  for (unsigned i = 0; i < options.connections; ++i) {
    auto daemon = DaemonClient::Make(options.daemon.http);
    if (!daemon) return Fail(daemon.error());
    daemons.push_back(std::move(*daemon));
  }
  return std::unique_ptr<BucketChecker>(new BucketChecker(options, plan, sample, read, std::move(daemons)));
}

// Asks the sample again: a user may have been in it when the event was read, and dropped out later.
Status BucketChecker::Load(std::string_view records, Oracle& oracle, Published& published) const {
  return ReadBucketRecords(
      records,
      [&](const JudgedEvent& event) {
        if (sample_.Holds(event.user_id)) oracle.Add(event);
      },
      [&](const SnapshotRecord& snapshot) {
        const auto& filters = plan_.filters;
        const auto place =
            static_cast<size_t>(std::find(filters.begin(), filters.end(), snapshot.filter) - filters.begin());
        if (snapshot.bytes) {
          published[place][std::string(snapshot.user_id)] = *snapshot.bytes;
        } else {
          published[place].erase(std::string(snapshot.user_id));
        }
      });
}

Status BucketChecker::Check(std::string_view records) {
  Oracle oracle(plan_.rules);
  Published published(plan_.filters.size());
  if (Status loaded = Load(records, oracle, published); !loaded) return loaded;
  return CheckUsers(oracle, published);
}

std::vector<UserChecker> BucketChecker::CheckersOf(const Oracle& oracle, DaemonClient& daemon) const {
  std::vector<UserChecker> checkers;
  checkers.reserve(plan_.filters.size());
  for (const size_t filter : plan_.filters) {
    const FilterRules& rules = plan_.rules.filters[filter];
    checkers.emplace_back(oracle, daemon,
                          CheckOptions{.filter = rules.name,
                                       .filter_number = filter,
                                       .names_filter = plan_.filters.size() > 1,
                                       .negatives_per_user = options_.negatives,
                                       .published = options_.snapshots && !rules.snapshot_topic.empty(),
                                       .published_at = read_.snapshots_at,
                                       .history_complete = read_.from_the_start});
  }
  return checkers;
}

Status BucketChecker::CheckUsers(const Oracle& oracle, const Published& published) {
  const std::vector<std::string_view> users = oracle.Users();
  std::atomic<size_t> next = 0;
  std::atomic<bool> stop = false;
  struct {
    Mutex mutex;
    std::vector<CheckOutcome> outcomes GUARDED_BY(mutex);
    Status failure GUARDED_BY(mutex);
  } found;
  {
    const MutexLock lock(found.mutex);
    found.outcomes = std::move(outcomes_);
  }
  const auto work = [&](unsigned connection, bool draws) {
    std::vector<UserChecker> checkers = CheckersOf(oracle, daemons_[connection]);
    while (!stop && !Interrupted()) {
      const size_t index = next++;
      if (index >= users.size()) break;
      const std::string user(users[index]);
      for (size_t place = 0; place < checkers.size() && !stop; ++place) {
        const auto snapshot = published[place].find(user);
        auto status =
            checkers[place].Check(user, snapshot == published[place].end() ? nullptr : &snapshot->second);
        if (status) continue;
        const MutexLock lock(found.mutex);
        found.failure = std::move(status);
        stop = true;
      }
      if (draws) progress_.Update(users_ + std::min(next.load(), users.size()));
    }
    const MutexLock lock(found.mutex);
    for (size_t place = 0; place < checkers.size(); ++place)
      found.outcomes[place].Add(checkers[place].outcome());
  };
  {
    std::vector<std::jthread> others;
    const auto threads =
        static_cast<unsigned>(std::min<size_t>(daemons_.size(), std::max<size_t>(1, users.size())));
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(work, i, false);
    work(0, true);
  }
  const MutexLock lock(found.mutex);
  outcomes_ = std::move(found.outcomes);
  users_ += users.size();
  progress_.Update(users_);
  if (!found.failure) return Fail(found.failure.error());
  if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
  return {};
}

}  // namespace seen
