#include "similar/groups/group_work.h"

namespace seen {

Status GroupOutbox::Send() {
  constexpr std::chrono::milliseconds kSpacePatience{100};
  bool waited = false;
  while (!waiting_.empty()) {
    const Record& record = waiting_.front();
    if (sink_.TrySend(record.item_id, record.group ? &*record.group : nullptr)) {
      waiting_.pop_front();
      ++sent_;
      waited = false;
      continue;
    }
    if (waited) return Fail(Code::kUnavailable, "the topic of groups takes no more records");
    waited = true;
    if (Status arrived = sink_.AwaitAll(kSpacePatience);
        !arrived && arrived.error().code != Code::kUnavailable) {
      return arrived;
    }
  }
  return {};
}

Status GroupOutbox::AwaitAll(std::chrono::milliseconds patience) {
  if (Status sent = Send(); !sent) return sent;
  return sink_.AwaitAll(patience);
}

void GroupWork::KeepChangedGroups() {
  for (const ItemRef& item : rows.changed()) {
    const StoredGroup& group = *rows.Group(item);
    outbox.Put(ToItemGroup(*rows.Item(item), &group));
    change.groups.push_back({item, IsAlone(item, group) ? std::nullopt : std::optional(group)});
  }
}

Status GroupWork::WriteChange() {
  if (change.empty()) return {};
  const Status written = index.Write(change);
  change = {};
  return written;
}

}  // namespace seen
