// The world's checks of the flow.
#include <algorithm>

#include "base/result.h"
#include "filter/snapshot.h"
#include "simulation/world.h"

namespace seen::sim {

std::vector<Fingerprint> World::Expected(const Lane& lane, const std::string& user, FilterIndex filter,
                                         Read read) const {
  // Some records may be in the state or not: those read beyond the next offset, and those lost after they
  // were read.
  const int64_t sure = lane.flow().state.next_offset();
  std::vector<const LoggedEvent*> events;
  for (int64_t offset = 0; offset < lane.read_max; ++offset) {
    const LogRecord& record = lane.log[static_cast<size_t>(offset)];
    if (record.bad || record.user != user) continue;
    const bool unsure = offset >= sure || lane.lost.contains(offset);
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

std::optional<std::vector<Fingerprint>> World::Actual(const Lane& lane, const std::string& user,
                                                      FilterIndex filter) {
  const AnswerLimits limits = filters_[filter].AnswerAt(clock_.WallNow());
  SeenReader reader;
  if (const Status read = lane.flow().reader.ReadSeen(filter, UserKeyOf(user), limits, reader); !read) {
    problem_ = "read: " + read.error().message;
    return std::nullopt;
  }
  std::vector<Fingerprint> seen(reader.seen().values().begin(), reader.seen().values().end());
  std::sort(seen.begin(), seen.end());
  const auto delta = ReadDecoded(lane.flow().reader, filter, UserKeyOf(user));
  if (!delta || SeenFingerprints(*delta, limits) != seen) {
    problem_ = "two readers find other sets of " + user;
    return std::nullopt;
  }
  return seen;
}

std::string World::CheckErased(const Lane& lane, const std::string& user) const {
  for (FilterIndex filter; filter < filters_.size(); filter = FilterIndex(filter + 1)) {
    const auto delta = ReadDecoded(lane.flow().reader, filter, UserKeyOf(user));
    if (!delta) return "read: " + delta.error().message;
    if (delta->HasSegments()) return "user " + user + " is erased, and has something";
  }
  return {};
}

std::string World::CheckUser(const Lane& lane, const std::string& user) {
  for (FilterIndex filter; filter < filters_.size(); filter = FilterIndex(filter + 1)) {
    if (IsUnknown(lane, filter)) continue;
    const auto found = Actual(lane, user, filter);
    if (!found) return problem_;
    const std::vector<Fingerprint>& actual = *found;
    const std::string who = "user " + user + " filter " + filters_[filter].name + ": ";
    const auto least = Expected(lane, user, filter, Read::kLeast);
    if (lane.IsExact()) {
      if (actual != least) return who + "not the oracle's set";
      continue;
    }
    const auto most = Expected(lane, user, filter, Read::kMost);
    // If some records are unsure, items_max may cut other items.
    if (most.size() >= rules_[filter].items_max) continue;
    if (!std::includes(actual.begin(), actual.end(), least.begin(), least.end())) {
      return who + "a seen item is missing";
    }
    if (!std::includes(most.begin(), most.end(), actual.begin(), actual.end()))
      return who + "an item too many";
  }
  return {};
}

std::string World::CheckNoneIsMissing(const std::string& user, FilterIndex filter,
                                      const std::vector<Fingerprint>& expected) const {
  const auto published = snapshots_.topic.find({filter, user});
  if (published == snapshots_.topic.end()) return expected.empty() ? "" : "never published: " + user;
  const auto view = SnapshotView::Parse(published->second);
  if (!view) return view.error().message;
  for (const Fingerprint fingerprint : expected) {
    if (!view->MightContain(fingerprint)) return "false negative in the snapshot of " + user;
  }
  return {};
}

std::string World::CheckPublished(const Lane& lane, const std::string& user, FilterIndex filter) const {
  const auto expected = Expected(lane, user, filter, Read::kLeast);
  if (std::string wrong = CheckNoneIsMissing(user, filter, expected); !wrong.empty()) return wrong;
  const auto published = snapshots_.topic.find({filter, user});
  if (published == snapshots_.topic.end()) return {};
  const auto view = SnapshotView::Parse(published->second);
  // The snapshot may hold more if records were published, then lost in a crash, and deleted by retention.
  if (!lane.lost.empty()) return {};
  if (expected.empty()) return "a snapshot of " + user + ", who has seen nothing";
  if (RenderSnapshot(view->meta(), expected) != published->second) {
    return "the snapshot of " + user + " isn't of what was seen";
  }
  return {};
}

std::string World::CheckAllIsPublished(const Lane& lane, const std::string& user) const {
  const bool says_so = lane.flow().publish.Outstanding() == 0 && !lane.flow().sweep.IsSweeping();
  // A snapshot of a time when the clock was wrong stays until a sweep finds it.
  if (!says_so || clock_was_wrong_) return {};
  for (FilterIndex filter; filter < filters_.size(); filter = FilterIndex(filter + 1)) {
    if (!filters_[filter].snapshot || IsUnknown(lane, filter)) continue;
    const auto expected = Expected(lane, user, filter, Read::kLeast);
    if (std::string wrong = CheckNoneIsMissing(user, filter, expected); !wrong.empty())
      return "none outstanding, but " + wrong;
  }
  return {};
}

std::string World::CheckAtRest(const Lane& lane) {
  if (lane.flow().publish.Outstanding() != 0) return "snapshots outstanding at rest";
  if (lane.flow().state.next_offset() != lane.end()) return "records unread at rest";
  const auto marks = lane.open->store->ScanMarks(std::nullopt, 1000);
  if (!marks) return "marks can't be read at rest: " + marks.error().message;
  if (!marks->empty()) return std::to_string(marks->size()) + " marks in the store at rest";
  const auto watermark = snapshots_.watermarks.find(std::to_string(lane.number));
  if (watermark == snapshots_.watermarks.end() ||
      watermark->second.find(R"("next_offset":)" + std::to_string(lane.end()) + ",") == std::string::npos) {
    return "no watermark of the log's end at rest";
  }
  for (const std::string& user : lane.users) {
    if (std::string wrong = CheckUser(lane, user); !wrong.empty()) return "at rest: " + wrong;
    for (FilterIndex filter; filter < filters_.size(); filter = FilterIndex(filter + 1)) {
      if (!filters_[filter].snapshot) continue;
      if (std::string wrong = CheckPublished(lane, user, filter); !wrong.empty()) {
        return "at rest, filter " + filters_[filter].name + ": " + wrong;
      }
    }
  }
  for (size_t offset = 0; offset < lane.log.size(); ++offset) {
    const LogRecord& record = lane.log[offset];
    if (record.bad || record.null || record.event.kind != "erased") continue;
    const auto retired = snapshots_.erased.find("before");
    const bool told = retired != snapshots_.erased.end() && retired->second.contains(record.user);
    if (!told && !lane.lost.contains(static_cast<int64_t>(offset))) {
      return "at rest: no tombstone of " + record.user + " in the retired topic";
    }
  }
  for (size_t offset = 0; offset < lane.log.size(); ++offset) {
    const auto at = static_cast<int64_t>(offset);
    if (lane.log[offset].bad && !lane.lost.contains(at) && !lane.dead_letters.topic.contains(at)) {
      return "at rest: no dead letter for offset " + std::to_string(at);
    }
    if (!lane.log[offset].bad && lane.dead_letters.topic.contains(at))
      return "at rest: a good event was dead-lettered";
  }
  return {};
}

}  // namespace seen::sim
