#include "flow/marks_part.h"

#include <iterator>

#include "flow/stored_user_id.h"

namespace seen {

// Users whose publication the worker left to a mark, and erased users, who need marks for retired topics.
std::vector<UserRef> MarksPart::DeferredUsers(const Checkpoint& checkpoint) const {
  std::vector<UserRef> deferred;
  for (const size_t index : state_.filters().by_id) {
    for (const Tail::UserSlot* const user : checkpoint.users) {
      if (user->deferred >> index & 1) deferred.push_back({state_.options().filters[index].id, user->key});
    }
  }
  // A retired topic gets only tombstones, each by its mark.
  for (const RetiredTopic& retired : state_.options().retired_topics) {
    for (const UserRef& erased : checkpoint.erased) {
      if (erased.filter == checkpoint.erased.front().filter) deferred.push_back({retired.id, erased.user});
    }
  }
  return deferred;
}

Status MarksPart::Write(Checkpoint& checkpoint, CheckpointWriter& writer) {
  // Marks of erased users are written even if one stands already: marks of older versions have no id.
  const MarkChanges marks =
      publish_.CollectMarks(DeferredUsers(checkpoint), checkpoint.erased, checkpoint.position.next_offset);
  checkpoint.report.marks_set = marks.set.size();
  checkpoint.report.marks_cleared = marks.clear.size();
  const auto& users = checkpoint.users;
  const PartitionState::Tails tails = state_.GetTails();
  auto set = marks.set.begin();
  auto clear = marks.clear.begin();
  auto user = users.begin();  // follows `set` through the users of each filter
  while (set != marks.set.end() || clear != marks.clear.end()) {
    const bool set_is_next = clear == marks.clear.end() || (set != marks.set.end() && *set < *clear);
    if (!set_is_next) {
      if (Status cleared = writer.ClearMark(*clear++); !cleared) return cleared;
      continue;
    }
    if (set != marks.set.begin() && set->filter != std::prev(set)->filter) user = users.begin();
    while (user != users.end() && (*user)->key < set->user) ++user;
    Mark mark{*set, {}};
    if (user != users.end() && (*user)->key == set->user) {
      mark.user_id = (*user)->user_id();
    } else if (const std::string_view id = tails.active->IdOf(set->user); !id.empty()) {
      mark.user_id = id;
    } else {
      auto stored = StoredUserId(store_, *set);
      if (!stored) return Fail(stored.error());
      mark.user_id = stored->empty() ? foreign_.IdOf(*set) : std::move(*stored);
    }
    if (Status marked = writer.SetMark(mark); !marked) return marked;
    ++set;
  }
  return {};
}

}  // namespace seen
