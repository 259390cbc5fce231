// What the world holds the flow to.
#include <algorithm>

#include "base/check.h"
#include "filter/snapshot.h"
#include "simulation/world.h"

namespace seen::sim {

std::vector<Fingerprint> World::Expected(const std::string& user, size_t filter, Read read) const {
  // What was read beyond the next offset, and what was lost after it was read, may be in the state or not.
  const int64_t sure = flow_->next_offset();
  std::vector<const LoggedEvent*> events;
  for (int64_t offset = 0; offset < read_max_; ++offset) {
    const LogRecord& record = log_[static_cast<size_t>(offset)];
    if (record.bad || record.user != user) continue;
    const bool unsure = offset >= sure || lost_.contains(offset);
    if (unsure && record.event.takes_back() != (read == Read::kLeast)) continue;
    events.push_back(&record.event);
  }
  std::vector<Fingerprint> expected;
  for (const std::string& id : SeenItems(rules_[filter], events, clock_.WallNow().value)) {
    expected.push_back(FingerprintOf(id));
  }
  std::sort(expected.begin(), expected.end());
  return expected;
}

std::optional<std::vector<Fingerprint>> World::Actual(const std::string& user, size_t filter) {
  const AnswerLimits limits = filters_[filter].AnswerAt(clock_.WallNow());
  SeenReader reader;
  if (const Status read = flow_->ReadSeen(filter, UserKeyOf(user), limits, reader); !read) {
    problem_ = "read: " + read.error().message;
    return std::nullopt;
  }
  std::vector<Fingerprint> seen(reader.seen().values().begin(), reader.seen().values().end());
  std::sort(seen.begin(), seen.end());
  const auto delta = flow_->ReadUser(filter, UserKeyOf(user));
  if (!delta || SeenFingerprints(*delta, limits) != seen) {
    problem_ = "two readers find other sets of " + user;
    return std::nullopt;
  }
  return seen;
}

std::string World::CheckUser(const std::string& user) {
  for (size_t filter = 0; filter < filters_.size(); ++filter) {
    const auto found = Actual(user, filter);
    if (!found) return problem_;
    const std::vector<Fingerprint>& actual = *found;
    const std::string who = "user " + user + " filter " + filters_[filter].name + ": ";
    const auto least = Expected(user, filter, Read::kLeast);
    if (IsExact()) {
      if (actual != least) return who + "not the oracle's set";
      continue;
    }
    const auto most = Expected(user, filter, Read::kMost);
    // Where some are unsure, what is cut because there are too many is another matter.
    if (most.size() >= rules_[filter].items_max) continue;
    if (!std::includes(actual.begin(), actual.end(), least.begin(), least.end())) {
      return who + "a seen item is missing";
    }
    if (!std::includes(most.begin(), most.end(), actual.begin(), actual.end()))
      return who + "an item too many";
  }
  return {};
}

std::string World::CheckPublished(const std::string& user, size_t filter) const {
  const auto published = snapshots_.topic.find({static_cast<FilterIndex>(filter), user});
  const auto expected = Expected(user, filter, Read::kLeast);
  if (published == snapshots_.topic.end()) return expected.empty() ? "" : "never published: " + user;
  const auto view = SnapshotView::Parse(published->second);
  if (!view) return view.error().message;
  for (const Fingerprint fingerprint : expected) {
    if (!view->MightContain(fingerprint)) return "false negative in the snapshot of " + user;
  }
  // Where retention took records that were read once, published and lost in a crash, it may hold more.
  if (!lost_.empty()) return {};
  if (expected.empty()) return "a snapshot of " + user + ", who has seen nothing";
  if (RenderSnapshot(view->meta(), expected) != published->second) {
    return "the snapshot of " + user + " isn't of what was seen";
  }
  return {};
}

std::string World::CheckAtRest() {
  for (const std::string& user : users_) {
    if (std::string wrong = CheckUser(user); !wrong.empty()) return "at rest: " + wrong;
    for (size_t filter = 0; filter < filters_.size(); ++filter) {
      if (!filters_[filter].snapshot) continue;
      if (std::string wrong = CheckPublished(user, filter); !wrong.empty()) {
        return "at rest, filter " + filters_[filter].name + ": " + wrong;
      }
    }
  }
  for (size_t offset = 0; offset < log_.size(); ++offset) {
    const auto at = static_cast<int64_t>(offset);
    if (log_[offset].bad && !lost_.contains(at) && !dead_letters_.topic.contains(at)) {
      return "at rest: no dead letter for offset " + std::to_string(at);
    }
    if (!log_[offset].bad && dead_letters_.topic.contains(at))
      return "at rest: a good event was dead-lettered";
  }
  return {};
}

}  // namespace seen::sim
